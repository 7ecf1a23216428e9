"""What pytest loads when hermes-core is installed. Silent until a contract class is used."""

"""What runs behind the wall, on bytes of strangers: a script for each verb, without Hermes."""

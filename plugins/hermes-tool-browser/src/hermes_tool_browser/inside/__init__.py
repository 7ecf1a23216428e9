"""What runs inside the wall of a browser, with the bare standard library."""

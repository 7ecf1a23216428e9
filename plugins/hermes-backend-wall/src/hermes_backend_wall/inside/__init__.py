"""What runs on the other side: the bare standard library of any Python from 3.9 on, and nothing of Hermes."""

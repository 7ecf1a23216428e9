"""The commands of a terminal that keep the gateway up, and say who may write to it."""

"""Slash commands: which there are, who may run one, and the conversation that it is typed into."""

"""What memories that find by meaning share: what a person said, words, order, commands and a tool."""

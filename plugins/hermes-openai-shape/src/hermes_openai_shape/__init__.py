"""Conversations in the shape of OpenAI's chat completions: ``write`` makes it of messages, ``read`` brings it back."""

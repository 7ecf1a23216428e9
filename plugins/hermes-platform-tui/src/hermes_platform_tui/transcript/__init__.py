"""What was said: messages, thoughts, tool calls, questions."""

"""Every service that speaks the OpenAI chat-completions or responses wire."""

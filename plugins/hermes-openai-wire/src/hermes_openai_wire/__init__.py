"""OpenAI's two protocols, chat completions and Responses, spoken to services that are rows of a catalogue."""

"""The host of whoever waits: carries what people say on a terminal's platform, its slash commands, completion, work."""

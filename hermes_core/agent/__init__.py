"""One turn: prompt, model calls, policy, tools, and the rows that are written before each is acted on."""

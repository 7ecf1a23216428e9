"""A conversation of somebody who waits: a terminal's messages, commands, completion and work."""

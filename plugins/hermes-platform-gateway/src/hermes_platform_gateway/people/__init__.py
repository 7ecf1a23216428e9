"""Who may talk, as whom, and how strangers are let in."""

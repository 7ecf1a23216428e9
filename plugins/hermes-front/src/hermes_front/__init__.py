"""The first milliseconds of a command. A library of the standard library alone; each module is imported when used."""

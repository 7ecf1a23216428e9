"""The ``hermes`` command: click groups whose parts are imported when they are used."""

"""Changes to YAML texts that leave every other character alone.

A library that knows nothing of Hermes: it stands on PyYAML alone, and the kernel writes settings with it.
"""

"""YAML texts read strictly, and changed so that every other character stays.

A library that knows nothing of Hermes: it stands on PyYAML alone, and the kernel reads and writes settings with it.
"""

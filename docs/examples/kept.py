"""Keeps two versions of a tool, as the agent does after your yes: what the page on its own tools shows is real."""

import time
from pathlib import Path

from hermes_core.types import Principal
from hermes_tool_workshop.label import Label
from hermes_tool_workshop.permissions import Permissions
from hermes_tool_workshop.store import ToolStore

CODE = """\
def count_words(text: str, least: int = 1) -> int:
    \"\"\"Count the words of a text that are long enough.\"\"\"
    return sum(len(word) >= least for word in text.split())
"""
PUNCTUATED = CODE.replace("len(word)", 'len(word.strip(".,;:!?"))')

store = ToolStore(Path.home() / ".hermes" / "data" / "tool-workshop", Principal())
for code, why in ((CODE, "I count often."), (PUNCTUATED, "Punctuation is no part of a word.")):
    label = Label(
        name="own_count_words",
        owner="default.owner",
        permissions=Permissions(),
        seconds=30,
        sha256="",
        when=time.time(),
        session="20261120_101500_abc123",
        why=why,
        examples=({"arguments": {"text": "a bc"}, "result": 2},),
    )
    store.keep("own_count_words", code, label, most=50)

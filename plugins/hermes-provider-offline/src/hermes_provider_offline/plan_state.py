"""What a plan carries from step to step: the file spoken of, what was found, what was said last."""

import re
from collections.abc import Callable, Generator, Sequence
from datetime import datetime

from hermes_provider_offline.history import PATHS, History, Outcome
from hermes_provider_offline.outputs import FileText, Hit
from hermes_provider_offline.speech import quoted
from hermes_provider_offline.toolbox import Call, CannotDo, Toolbox

_FILE = re.compile(r"\.\w+$|(?:^|/)[A-Z]\w+$")
Act = Generator[Call, Outcome, str]


class PlanState:
    """The state of one plan. It is made anew for every request, so nothing can go stale."""

    def __init__(self, history: History, toolbox: Toolbox, clock: Callable[[], datetime]) -> None:
        self.history = history
        self.toolbox = toolbox
        self.clock = clock
        self.path = _last_path(history)
        self.file: FileText | None = None
        self.hits: Sequence[Hit] = ()
        self.searched = ""
        self.result = ""  # what "it" means when something is to be written down
        self.troubled = False


def _last_path(history: History) -> str:
    for _, arguments, outcome in reversed(history.earlier):
        for name in PATHS:
            path = arguments.get(name)
            if isinstance(path, str) and not outcome.failed and _FILE.search(path):
                return path
    return ""


def sorry(what: str, outcome: Outcome) -> CannotDo:
    """A step that a tool refused or could not do, with the tool's own words."""
    return CannotDo(f"{what} The tool said:\n{quoted(outcome.text)}")

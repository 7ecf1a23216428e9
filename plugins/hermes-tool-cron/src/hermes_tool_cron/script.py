"""Who answers for a script: no model, but a play of two steps, so that a script is a turn like any other.

Its command is a call of the tool ``terminal``: judged by the guard and the rules, run in the backend behind its wall,
written down before and after. What the tool says is the answer.
"""

import re
from collections.abc import AsyncIterator, Sequence

from hermes_core.errors import Refused
from hermes_core.kinds import Provider
from hermes_core.types import CallDelta, Delta, Done, Endpoint, Message, Model, Request, Text, TextDelta, ToolResult

__all__ = ["MODEL", "NOTHING", "Script", "ending_of", "order_of", "woken"]

MODEL = "cron:script"
NOTHING = "[SILENT]"  # what it says for a script that printed nothing: an empty answer is none
_FENCE = re.compile(r"\A<untrusted from=[^\n>]*>\n(.*)\n</untrusted>(?:\n[^\n]*)?\Z", re.DOTALL)
_STATUS = re.compile(r"exit (\d+)(?: \(.*\))?")  # the last line of what the tool says, unless all went well
_ORDER = "Run this command:\n"
_LONGEST = 600  # seconds of a command in the foreground


def order_of(command: str) -> str:
    """Return what is said to it to run a command."""
    return f"{_ORDER}{command}"


def ending_of(answer: str) -> tuple[str, str]:
    """Return what a script printed, and the status with which it ended, in words; that is empty where it ended well.

    Where the last thing that it printed looks like a status, the tool says below that it ended well.
    """
    if answer == NOTHING:
        return "", ""
    printed, _, last = answer.rstrip().rpartition("\n")
    found = _STATUS.fullmatch(last)
    if found is None:
        return answer, ""
    return (printed, "") if found[1] == "0" else (answer, last)


def woken(output: str) -> tuple[bool, str]:
    """Say whether what a script printed wakes the model, and what it is told: the last line may say so, as JSON."""
    import json

    rest, _, last = output.rstrip().rpartition("\n")
    try:
        said = json.loads(last)
    except (ValueError, RecursionError):  # a page that it printed may end with anything
        return True, output
    if not isinstance(said, dict) or "wakeAgent" not in said:
        return True, output
    return said["wakeAgent"] is not False, rest


class Script(Provider):
    """Runs the command that it is told, once, and answers with what that said. No person chooses it by itself."""

    name = "cron"
    priority = 99
    default_model = "script"

    async def models(self) -> Sequence[Model]:
        return [Model(name="script", context=1_000_000)]

    def window(self, model: str) -> int:
        return 1_000_000

    def at(self, endpoint: Endpoint) -> Provider:
        return self

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Call the terminal, then repeat what it said. Raises Refused where no command was ordered, or none ran."""
        import json

        results = [part for message in request.messages for part in message.parts if isinstance(part, ToolResult)]
        if not results:
            arguments = {"command": _command(request.messages), "timeout": _LONGEST}
            yield CallDelta(index=0, id="script", name="terminal", arguments=json.dumps(arguments))
            yield Done(reason="tools")
            return
        # The first part is what the tool said; plugins may say something of it in others.
        text = next((part.text for part in results[-1].parts if isinstance(part, Text)), "")
        if found := _FENCE.match(text):
            text = found[1]
        if results[-1].failed:
            raise Refused(f"The script did not run: {text.strip()[:2000]}")
        yield TextDelta(text=text if text.strip() not in ("", "(no output)") else NOTHING)
        yield Done(reason="stop")


def _command(messages: Sequence[Message]) -> str:
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text) and message.role == "user" and part.text.startswith(_ORDER):
                return part.text.removeprefix(_ORDER)
    raise Refused("The provider cron runs scripts of jobs, and answers nothing else.", hint="hermes cron create --help")

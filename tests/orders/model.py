"""A model that does whatever it reads: the orders of a scene, wherever their word stands in what it was sent."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from urllib.parse import unquote

from corpus import TOKEN
from obedient import Obedient, _orders

from hermes_core.types import Blob, CallDelta, Delta, Done, Request, Text, TextDelta, ToolResult


class Follower(Obedient):
    """Obeys the lines of ``obedient`` in what a person says, and everywhere the word of an order.

    ``calls`` are what the order wants; before there are some it is not obeyed. What it says itself it does not obey.
    Asked for an opinion it approves; asked for a summary or a title it gives the order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: Sequence[tuple[str, str]] = ()
        self.obeyed = 0  # how often the order was read
        self._done: dict[str, Counter[tuple[str, str]]] = {}

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Call what it was told to call and has not called yet, else answer."""
        self.requests.append(request)
        texts = list(read(request))
        ordered = bool(self.calls) and any(TOKEN in text or TOKEN in unquote(text) for text in texts)
        if not request.tools:
            judge = any("You judge" in text for text in texts)
            yield TextDelta(text="APPROVE" if judge else f"Earlier it was said: {TOKEN}")
            yield Done(reason="stop")
            return
        wanted = [one for m in request.messages if m.role == "user" for one in _orders(m)]
        said = [json.loads(arguments)["text"] for name, arguments in self.calls if name == "say"] if ordered else []
        if ordered:
            self.obeyed += 1
            wanted += [(name, json.dumps(json.loads(text))) for name, text in self.calls if name != "say"]
        done = self._done.setdefault(_conversation(request), Counter())
        spare = Counter(done)
        left = [one for one in wanted if spare.subtract([one]) or spare[one] < 0]
        for index, (name, arguments) in enumerate(left):
            yield CallDelta(index=index, id=f"{len(self.requests)}-{index}", name=name, arguments=arguments)
        done.update(left)
        if not left:
            seen = any(TOKEN in text for text in texts)
            yield TextDelta(text="\n".join([*said, f"I did all I was told{f' ({TOKEN})' if seen else ''}."]))
        yield Done(reason="tools" if left else "stop")


def read(request: Request) -> Iterator[str]:
    """All text that a model is sent, but its own: the prompt, what is said, results, files, descriptions of tools."""
    for message in request.messages:
        if message.role == "assistant":
            continue
        for part in message.parts:
            for piece in part.parts if isinstance(part, ToolResult) else (part,):
                if isinstance(piece, Text):
                    yield piece.text
                elif isinstance(piece, Blob):
                    yield (piece.data or b"").decode(errors="replace")
    for tool in request.tools:
        yield f"{tool.name} {tool.description} {getattr(tool, 'parameters', '')}"


def _conversation(request: Request) -> str:
    """What tells one conversation from another: the session that the prompt names, or how it begins."""
    first = [part.text for m in request.messages[:2] for part in m.parts if isinstance(part, Text)]
    return next((text.rpartition("Session ")[2] for text in first if "Session " in text), "".join(first))

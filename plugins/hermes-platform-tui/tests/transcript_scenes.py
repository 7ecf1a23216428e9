"""Conversations to look at: an application with nothing but a transcript, and what is said in it."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from textual.app import App, ComposeResult

from hermes_core.testing import FakeSessions
from hermes_core.types import (
    Asked,
    Blob,
    Called,
    Ended,
    Event,
    Failed,
    Message,
    Noticed,
    Principal,
    Progress,
    Question,
    Reasoning,
    Returned,
    Said,
    Started,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    Verdict,
)
from hermes_platform_tui.config import Config
from hermes_platform_tui.transcript import Transcript


class Known:
    """What the transcript asks of a plugin's context: the sessions of its owner."""

    def __init__(self) -> None:
        self.owner, self.sessions = Principal(), FakeSessions()


STARTED = Started(session_id="s", turn_id="t", provider="scripted", model="scripted-1")
NOON = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)

DIFF = """Edited src/parser.py
--- src/parser.py
+++ src/parser.py
@@ -11,7 +11,8 @@
 def parse(text: str) -> Tree:
     tokens = tokenise(text)
-    return build(tokens)
+    if not tokens:
+        return Tree()
+    return build(tokens, strict=True)
\x20
\x20
 def tokenise(text: str) -> list[Token]:"""

PLAN = """[x] read: Read the failing test
[>] mend: Mend the parser, so that an empty text gives an empty tree
[ ] run: Run all tests
[-] docs: Write about it
4 items: 1 completed, 1 in progress, 1 pending, 1 cancelled"""

ANSWER = """The parser did not expect an **empty text**. I changed two things:

1. `parse` gives an empty tree when there are no tokens.
2. `build` is strict, so the next mistake of this kind shows itself.

```python
def parse(text: str) -> Tree:
    tokens = tokenise(text)
    return build(tokens, strict=True) if tokens else Tree()
```

All 214 tests pass now."""


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        """The time of day."""
        return NOON + timedelta(seconds=self.seconds - 100)


class Stage(App[None]):
    """A transcript, and what it posts. It has the keys from the beginning, unless there is something to act."""

    AUTO_FOCUS = None

    def __init__(self, config: Config | None = None, act: Callable[[Transcript, Clock], None] | None = None) -> None:
        super().__init__()
        self.clock = Clock()
        self.transcript = Transcript(config=config or Config(), now=self.clock.now, clock=self.clock)
        self.posted: list[Any] = []
        self._act = act

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_mount(self) -> None:
        if self._act is None:
            self.transcript.focus()
            return
        self._act(self.transcript, self.clock)
        self.transcript.flush()

    def on_transcript_copied(self, event: Transcript.Copied) -> None:
        self.posted.append(("copied", event.text, event.what))

    def on_transcript_retry_wanted(self, event: Transcript.RetryWanted) -> None:
        self.posted.append(("retry",))

    def on_transcript_link_opened(self, event: Transcript.LinkOpened) -> None:
        self.posted.append(("link", event.url))


def call(name: str, number: int = 1, /, **arguments: Any) -> ToolCall:
    return ToolCall(id=f"call-{number}", name=name, arguments=arguments)


def called(made: ToolCall) -> Called:
    return Called(call=made)


def returned(
    made: ToolCall,
    text: str = "",
    seconds: float = 0.4,
    *,
    failed: bool = False,
    untrusted: bool = False,
    blobs: Any = (),
) -> Returned:
    parts = (*([Text(text=text)] if text else []), *blobs)
    result = ToolResult(call_id=made.id, name=made.name, parts=parts, failed=failed, untrusted=untrusted)
    return Returned(call=made, result=result, seconds=seconds)


def ended(answer: str = "", reason: Any = "done", note: str = "") -> Ended:
    usage = Usage(input=12_345, output=678, cost=0.0213, calls=3, priced="estimated")
    return Ended(session_id="s", turn_id="t", answer=answer, reason=reason, usage=usage, note=note)


def play(transcript: Transcript, events: Iterable[Event]) -> None:
    for event in events:
        transcript.show(event)


def mending(transcript: Transcript, clock: Clock) -> None:
    """A turn as it mostly is: thought, calls, a plan, a difference, a question, an answer."""
    shot = Blob(media_type="image/png", name="failure.png", data=b"x" * 120_000)
    transcript.say("Why does test_empty fail? Mend it, and run all the tests.", [shot])
    read, run = call("read_file", 1, path="tests/test_parser.py"), call("terminal", 2, command="pytest -q tests")
    edit = call("edit_file", 3, path="src/parser.py", old="a", new="b")
    todo = call("todo", 4, todos=[{"id": "read"}, {"id": "mend"}, {"id": "run"}, {"id": "docs"}])
    play(
        transcript, [STARTED, Thinking(text="The test calls parse with an empty text.\nWhat does tokenise give then?")]
    )
    clock.seconds += 3
    output = "\n".join(f"tests/test_parser.py::test_{number} PASSED" for number in range(48))
    question = Question(id="q", kind="approval", subject="terminal: pytest -q tests", risk="runs a program")
    play(
        transcript,
        [
            Said(text="I look at the test first."),
            called(read),
            returned(read, "1|def test_empty():\n2|    assert parse('') == Tree()", 0.1),
            called(todo),
            returned(todo, PLAN, 0.0),
            called(edit),
            returned(edit, DIFF, 0.2),
            called(run),
            Asked(question=question, verdict=Verdict(outcome="allow", choice="session")),
            returned(run, output + "\n214 passed in 3.21s", 3.4),
            Said(text=ANSWER),
            ended(ANSWER),
        ],
    )


def failing(transcript: Transcript, clock: Clock) -> None:
    """What goes wrong: refused, failed, interrupted, and no model."""
    transcript.say("Delete the build folder.")
    remove, fetch = call("terminal", 1, command="rm -rf build"), call("fetch", 2, url="https://example.org/a/page")
    play(transcript, [STARTED, called(remove)])
    question = Question(
        id="q", kind="approval", subject="terminal: rm -rf build\nin /work/project", risk="deletes files"
    )
    play(
        transcript,
        [
            Asked(question=question, verdict=Verdict(outcome="deny", reason="not now")),
            returned(remove, "terminal was not run: not now", 0.0, failed=True),
            called(fetch),
            returned(fetch, "404 Not Found\nThe page is not there.", 1.2, failed=True),
            Noticed(text="The model is overloaded; trying again in 4 s."),
            Said(text="I could not delete the folder, and"),
            ended("", "interrupted"),
        ],
    )
    transcript.say("Go on.")
    play(
        transcript,
        [
            STARTED,
            Failed(kind="unauthorised", text="The key of openai was refused.", hint="hermes auth openai sets another."),
        ],
    )
    play(transcript, [ended("", "failed")])


def working(transcript: Transcript, clock: Clock) -> None:
    """While it runs: live output, child agents, a waiting message."""
    transcript.say("Look into all three services.")
    run, delegate = (
        call("terminal", 1, command="make -j8 all"),
        call("delegate", 2, tasks=[{"goal": "api"}, {"goal": "web"}]),
    )
    play(transcript, [STARTED, called(run), called(delegate)])
    play(transcript, [Progress(call_id="call-1", text=f"[{n}/90] building module_{n}.o\n") for n in range(40)])
    steps = ["1 ▸ read_file api/main.py", "2 ▸ terminal npm test", "1 ▸ search_files handler in api"]
    play(transcript, [Progress(call_id="call-2", text=f"{step}\n") for step in steps])
    transcript.say("And then write it up.", pending=True)
    clock.seconds += 12


def thinking(transcript: Transcript, clock: Clock) -> None:
    """The model thinks."""
    transcript.say("How many primes are there below 100?")
    play(transcript, [STARTED, Thinking(text="Primes below 100: 2, 3, 5, 7 …\nI count them by tens: four, four, two,")])
    clock.seconds += 7


def history(count: int) -> list[Message]:
    """A session of so many messages, in turns of four."""
    made: list[Message] = []
    for number in range(1, count + 1):
        turn = (number - 1) // 4 + 1
        asked = call("terminal", turn, command=f"run {turn}")
        parts: Mapping[int, tuple[str, Any]] = {
            1: ("user", Text(text=f"Question {turn}: what about it?")),
            2: ("assistant", asked),
            3: ("tool", ToolResult(call_id=asked.id, name="terminal", parts=(Text(text=f"output of run {turn}"),))),
            0: ("assistant", Text(text=f"Answer {turn}: this is about it.")),
        }
        role, part = parts[number % 4]
        first = (Reasoning(text=f"Thought {turn}"),) if number % 4 == 2 else ()
        made.append(Message(role=role, parts=(*first, part)))  # type: ignore[arg-type]
    return made


def screen_of(app: App[None]) -> str:
    """The text that is on the screen, without what stands at the end of a row."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip)[:-1].rstrip() for strip in strips)

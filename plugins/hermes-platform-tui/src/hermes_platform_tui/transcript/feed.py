"""What happens in turns, as entries. No widgets: what is to be shown is told in ``fresh`` and ``touched``."""

from collections.abc import Callable, Sequence
from datetime import date, datetime

from hermes_core.types import (
    Asked,
    Blob,
    Called,
    Ended,
    Event,
    Failed,
    Noticed,
    Progress,
    Returned,
    Said,
    Started,
    Thinking,
    ToolCall,
)
from hermes_platform_tui.config import Config
from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.transcript.entries import Action, Entry, Failure, Remark, Speech, Thought
from hermes_platform_tui.transcript.wording import asked_line, day_line, usage_line

__all__ = ["Feed"]


class Feed:
    """All entries of a conversation in order, and what the next event belongs to.

    Events may come in any order: what does not fit is shown where it comes, and nothing is lost.
    """

    def __init__(self, config: Config, now: Callable[[], datetime], clock: Callable[[], float]) -> None:
        self._config, self._now, self._clock = config, now, clock
        self.entries: list[Entry] = []
        self.fresh: list[Entry] = []
        self.touched: dict[Entry, None] = {}
        self.running = False
        self._expected = False  # a turn of what was said without waiting; its Started is of no message that waits
        self.timestamps = config.timestamps
        self._day: date | None = None
        self._restart()

    def _restart(self) -> None:
        self._speech: Speech | None = None
        self._thought: Thought | None = None
        self._actions: dict[str, Action] = {}
        self._spoke = ""  # what was said since the last call
        self._since: float | None = None

    def clear(self) -> None:
        """Forget everything."""
        self.entries.clear()
        self.fresh.clear()
        self.touched.clear()
        self.running, self._day = False, None
        self._restart()

    @property
    def live(self) -> bool:
        """Whether something shows how long it takes."""
        return self._thought is not None or bool(self._actions)

    def show(self, event: Event) -> None:
        """Take in one event."""
        if not isinstance(event, Thinking | Progress):
            self._end_thought()
        match event:
            case Started():
                self._start()
            case Said():
                self._say(event.text)
            case Thinking():
                self._think(event.text)
            case Called():
                self._end_speech()
                self._spoke = ""
                self._action(event.call).state = "running"
            case Progress():
                self._progress(event)
            case Returned():
                self._return(event)
            case Asked():
                self._end_speech()
                self.add(Remark(kind="asked", text=clean(asked_line(event.question, event.verdict))))
            case Noticed():
                self._end_speech()
                self.note(event.text)
            case Failed():
                self._end_speech()
                self.add(Failure(text=clean(event.text) or event.kind, hint=clean(event.hint), retry=True))
            case Ended():
                self._end(event)

    def say(self, text: str, blobs: Sequence[Blob] = (), *, pending: bool = False) -> None:
        """The person said something; ``pending``: its turn has not begun."""
        self._forgive()
        self._expected = self._expected or not (pending or self.running)
        self.add(Speech.of("person", text, blobs, pending=pending))

    def withdraw(self, text: str) -> Entry | None:
        """Take back the last message that waits and says this."""
        wanted = clean(text)
        for at in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[at]
            if not (isinstance(entry, Speech) and entry.pending):
                break
            if entry.text == wanted:
                self.fresh = [other for other in self.fresh if other is not entry]
                self.touched.pop(entry, None)
                return self.entries.pop(at)
        return None

    def answer(self, text: str) -> None:
        """The house said something."""
        self._expected = False
        self.add(Speech.of("house", text))

    def note(self, text: str) -> None:
        """A line for the person."""
        self.add(Remark(kind="note", text=clean(text).strip()))

    def fail(self, text: str, hint: str = "") -> None:
        """Something else than a turn did not work."""
        self._expected = False
        self.add(Failure(text=clean(text), hint=clean(hint)))

    def add(self, entry: Entry) -> None:
        """Put an entry at the end, but before what waits for its turn."""
        at = len(self.entries)
        if not (isinstance(entry, Speech) and entry.who == "person"):
            while at and isinstance(before := self.entries[at - 1], Speech) and before.pending:
                at -= 1
        if self.timestamps:
            entry.at = self._now()
            if entry.at.date() != self._day:
                self._day = entry.at.date()
                day = Remark(kind="day", text=day_line(entry.at), at=entry.at)
                self.entries.insert(at, day)
                self.fresh.append(day)
                at += 1
        self.entries.insert(at, entry)
        self.fresh.append(entry)

    def _touch(self, entry: Entry) -> None:
        self.touched[entry] = None

    def _forgive(self) -> None:
        """What failed is behind us; it cannot be tried again from there."""
        for entry in self.entries[-20:]:
            if isinstance(entry, Failure) and entry.retry:
                entry.retry = False
                self._touch(entry)

    def _start(self) -> None:
        self._stop("running" if self.running else "")
        self._forgive()
        self._restart()
        self.running, self._since = True, self._clock()
        waiting = next((e for e in self.entries[-200:] if isinstance(e, Speech) and e.pending), None)
        if waiting is not None and not self._expected:
            waiting.pending = False
            self._touch(waiting)
        self._expected = False

    def _say(self, text: str) -> None:
        if self._speech is None:
            self._speech = Speech(who="model", live=True)
            self.add(self._speech)
        self._speech.say(text)
        self._spoke += text
        self._touch(self._speech)

    def _end_speech(self, *, cut: bool = False) -> None:
        if self._speech is not None:
            self._speech.finish(cut=cut)
            self._touch(self._speech)
            self._speech = None

    def _think(self, text: str) -> None:
        if self._thought is None:
            self._end_speech()
            self._thought = Thought(live=True, since=self._clock())
            self.add(self._thought)
        self._thought.said.say(text)
        self._touch(self._thought)

    def _end_thought(self) -> None:
        if self._thought is not None:
            self._thought.said.finish()
            self._thought.live, self._thought.seconds = False, self._clock() - self._thought.since
            self._touch(self._thought)
            self._thought = None

    def _action(self, call: ToolCall) -> Action:
        action = self._actions.get(call.id)
        if action is None:
            action = self._actions[call.id] = Action(call=call, since=self._clock())
            self.add(action)
        action.call = call
        self._touch(action)
        return action

    def _progress(self, event: Progress) -> None:
        action = self._actions.get(event.call_id)
        if action is None:
            self._end_speech()
            action = self._action(ToolCall(id=event.call_id, name="tool", arguments={}))
            action.state = "running"
        action.told.add(event.text)
        self._touch(action)

    def _return(self, event: Returned) -> None:
        self._end_speech()
        action = self._action(event.call)
        action.end(event.result, event.seconds)
        self._actions.pop(event.call.id, None)

    def _stop(self, reason: str) -> None:
        """Nothing that still runs will end."""
        self._end_thought()
        self._end_speech(cut=reason == "interrupted")
        for action in self._actions.values():
            action.state, action.seconds = "stopped", self._clock() - action.since
            self._touch(action)
        self._actions.clear()

    def _end(self, event: Ended) -> None:
        if event.answer.strip() and event.reason == "done" and event.answer.strip() not in self._spoke:
            self._end_speech()
            self.add(Speech.of("model", event.answer))
        spoke = self._speech is not None
        self._stop(event.reason)
        if event.reason == "interrupted" and not spoke:
            self.add(Remark(kind="stopped", text="interrupted"))
        if event.note.strip():
            self.add(Remark(kind="caution", text=clean(event.note).strip()))
        seconds = None if self._since is None else self._clock() - self._since
        if self._config.usage and event.reason != "failed" and (line := usage_line(event.usage, seconds)):
            self.add(Remark(kind="usage", text=line))
        self.running = False
        self._restart()

"""A street: people on a chat service who write faster than they are answered, and gateways that come and go."""

import json
import random
import signal
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Protocol

from word_home import PATIENCE, Home, Process, Server, moment
from word_judge import judge
from word_model import Model, answer, job

CONFIG = """
model: {{provider: custom, base_url: "{url}", api_key: x, default: word}}
policy: {{mode: "off"}}
terminal: {{cwd: "WORK"}}
backends: {{local: {{wall: none}}}}
gateway:
  people: {{owner: [{people}]}}
  edit_seconds: 0.05
  edit_chars: 3
  retry_seconds: 0.2
  retry_cap: 1
  drain_seconds: 1
platforms: {{{platform}}}
"""
LIFE = 10.0  # seconds that a gateway lives at most, while people write
MARK = "*(may be repeated)*\n"
PLACEHOLDER = "…"
GIVEN_UP = "This turn was given up: its process died"


class Chats(Protocol):
    """What a street needs of a chat service."""

    acked: set[str]
    faults: dict[str, int]
    impatient: int

    def write(self, name: str, chat: str, text: str) -> None:
        """A person writes."""

    def seen(self) -> dict[str, list[str]]:
        """What people read in each chat, from above to below."""


class Street:
    """So many messages of so many people; some want something done that can be seen outside."""

    def __init__(self, service: Chats, chats: list[str], dice: random.Random, tally: Counter[str]) -> None:
        self.service, self.chats, self.dice, self.tally = service, chats, dice, tally
        self.said: dict[str, list[str]] = {chat: [] for chat in chats}
        self.jobs: list[str] = []
        self._looked = 0.0
        self._asked, self._answered = 0.0, set[tuple[str, int]]()

    def play(self, folder: Path, server: Server, model: Model, platform: str, senders: list[str], messages: int,
             env: dict[str, str], plugin: Path | None = None) -> None:  # fmt: skip
        """Let them write, and judge."""
        people = ", ".join(json.dumps(sender) for sender in senders)
        config = CONFIG.format(url=model.url, people=people, platform=platform)
        home = Home(folder, server, config, extra=env)
        if plugin:
            (home.home / "plugins").mkdir()
            (home.home / "plugins" / f"{plugin.stem.removeprefix('word_')}.py").write_bytes(plugin.read_bytes())
            enable = ("plugins", "enable", plugin.stem.removeprefix("word_"), "--yes")
            while "did not end within" in home.run(*enable, status=(0, 3)).err:
                pass  # its trial has ten seconds, and this machine may have other things to do
        try:
            self._live(home, folder.name, messages)
            self._log(home)
            # A gateway that is told to go ends its commands when their time is over, and says so.
            judge(home, model, self.jobs, set(self.jobs), self.tally, again=bool(self.tally["stops"]))
            self._read()
        finally:
            home.end_all()

    def _live(self, home: Home, prefix: str, messages: int) -> None:
        """Let people write, and gateways come and go, until everything is answered or given up."""
        process, dies = home.start("gateway", "run"), moment(self.dice, LIFE) + 2
        quiet = time.monotonic()
        while len(self.jobs) < messages or not self._settled(home):
            if len(self.jobs) < messages:
                quiet = time.monotonic()
                if len(self.jobs) - len(self.service.acked) < 40:
                    self._write(f"{prefix}y{len(self.jobs)}")
                if process.age() > dies:
                    self._stop(process)
                    process, dies = home.start("gateway", "run"), moment(self.dice, LIFE) + 2
            assert time.monotonic() - quiet < 5 * PATIENCE, (self._open(), process.err)
            assert process.wait(0.02) is None, (process.wait(), process.err)
            self._answer_questions()
        process.kill(signal.SIGTERM)
        assert process.wait() == 0, process.err
        assert "Traceback" not in "".join(p.err for p in home.processes)
        self.tally["messages"] += len(self.jobs)

    def _write(self, name: str) -> None:
        chat = self.dice.choice(self.chats)
        self.jobs.append(name)
        self.said[chat].append(name)
        self.service.write(name, chat, job(name, 1 if self.dice.random() < 0.1 else 0, 0.2))

    def _stop(self, process: Process) -> None:
        """Kill a gateway, or now and then only tell it to go."""
        kind = signal.SIGTERM if self.dice.random() < 0.2 else signal.SIGKILL
        process.kill(kind)
        assert process.wait() in (0, -kind), process.err
        self.tally["kills" if kind == signal.SIGKILL else "stops"] += 1

    def _answer_questions(self) -> None:
        """Say yes where it is asked: what a command gave that was cut is text from outside, and the next one asks."""
        if time.monotonic() - self._asked < 1:
            return
        self._asked = time.monotonic()
        for chat, texts in self.service.seen().items():
            for number in range(sum("May I do this?" in text for text in texts)):
                if (chat, number) not in self._answered:
                    self._answered.add((chat, number))
                    self.tally["questions answered"] += 1
                    self.service.write(f"yes {chat} {number}", chat, "/approve once")

    def _open(self) -> list[str]:
        """The messages without an answer so far."""
        read = {text.removeprefix(MARK) for texts in self.service.seen().values() for text in texts}
        return [name for name in self.jobs if answer(name) not in read]

    def _settled(self, home: Home) -> bool:
        """Whether everybody was answered, or told why not, and nothing is under way any more."""
        if (left := self._open()) and time.monotonic() - self._looked < 5:
            return False
        self._looked = time.monotonic()
        if left:
            ended = sum(GIVEN_UP in text for texts in self.service.seen().values() for text in texts)
            if ended + len(home.lines("gateway", "dead", "--json")) < len(left):
                return False
        rows = home.lines("sessions", "list", "--json", "--all", "-n", "1000")
        if any(row["state"] != "idle" for row in rows):
            return False
        status = home.run("gateway", "status", status=(0, 1)).out
        return "something waits: 0. To be sent: 0." in status

    def _log(self, home: Home) -> None:
        """Count what the log complains about."""
        self.given_up = [json.dumps(row, ensure_ascii=False) for row in home.lines("gateway", "dead", "--json")]
        for file in (home.home / "logs").glob("*.log"):
            for line in map(json.loads, file.read_text().splitlines()):
                if line["level"] != "INFO":
                    self.tally[f"log: {line['level']}"] += 1
                assert "traceback" not in line, line

    def _read(self) -> None:
        """Each answer is read once, or a second time that says so; in order; none is missing without a word."""
        for fault, times in self.service.faults.items():
            self.tally[f"fault {fault}"] += times
        self.tally["impatient"] += self.service.impatient
        seen = defaultdict(list, self.service.seen())
        told = defaultdict(list)
        for chat, texts in seen.items():
            for text in texts:
                if "answer to job" in text:
                    told[chat].append(text)
                else:
                    self.tally["placeholders left" if text == PLACEHOLDER else f"other: {text[:50]!r}"] += 1
        for chat, names in self.said.items():
            texts, wanted = told[chat], [answer(name) for name in names]
            once = Counter(texts)
            assert max(once.values(), default=0) <= 1, (chat, once.most_common(2))
            first = list(dict.fromkeys(text.removeprefix(MARK) for text in texts))
            assert first == [text for text in wanted if text in first], (chat, "not in order", first, wanted)
            self.tally["marked as repeated"] += sum(text.startswith(MARK) for text in texts)
            ended = sum(GIVEN_UP in text for text in seen[chat])
            self.tally["told that a turn was given up"] += ended
            if len(set(wanted) - set(first)) <= ended:
                continue
            for text in set(wanted) - set(first):
                assert any(text in row for row in self.given_up), (text, "is missing without a word", self.given_up)
                self.tally["given up, and listed"] += 1

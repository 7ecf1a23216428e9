"""One-shots killed at any moment: what was heard is done once, and a person who goes on is told of all of it.

The long run: ``pytest -m long -o faulthandler_timeout=0 tests/word/test_killed_one_shots.py --kills 300 -s``.
"""

import random
from collections import Counter

import pytest
from word_home import Home, moment
from word_judge import judge
from word_model import Model, answer, job

pytestmark = pytest.mark.long

CONFIG = """
model: {{provider: custom, base_url: "{url}", api_key: x, default: word}}
policy: {{mode: "off"}}
terminal: {{cwd: "WORK"}}
backends: {{local: {{wall: {wall}}}}}
"""
SESSIONS = 8  # trials that share a home


class Person:
    """Somebody who works with one-shots, loses some of them, and goes on."""

    def __init__(self, home: Home, model: Model, dice: random.Random, tally: Counter[str]) -> None:
        self.home, self.model, self.dice, self.tally = home, model, dice, tally
        self.said: list[str] = []
        self.whole: list[str] = []  # jobs whose process came to its end
        self.longest = 1.5

    def try_one(self, name: str) -> None:
        """Say something, be cut off, and go on until it is done."""
        words = ["-c"] if self.said and self.dice.random() < 0.3 else []
        text = job(name, self.dice.randint(1, 3), self.dice.choice((0.05, 0.2, 0.4)))
        if self._cut(name, *words, "-z", text):
            for number in range(2):
                if self.dice.random() > 0.3:
                    break
                self._cut(f"{name}r{number}", *self._way(f"{name}r{number}"))
            self._go_on(f"{name}end")

    def _way(self, name: str) -> list[str]:
        way = self.dice.randrange(3)
        return [["resume"], ["resume", "--json"], ["-c", "-z", job(name, 1, 0.05)]][way]

    def _cut(self, name: str, *words: str) -> bool:
        """Start a command and kill it some time later; whether it was hit."""
        if "-z" in words:
            self.said.append(name)
        process = self.home.start(*words)
        hit = process.killed_after(moment(self.dice, self.longest))
        self.tally["kills" if hit else "ended before"] += 1
        if not hit:
            if "There is no session to go on with" in process.err:
                assert process.wait() == 2
                self.tally["told that there is nothing to go on with"] += 1
                return True
            assert process.wait() == 0, (words, process.err)
            self.whole += [name] if "-z" in words else []
            self.longest = max(0.6, 0.7 * self.longest + 0.4 * process.age())
        return hit

    def _go_on(self, name: str) -> None:
        """Finish what was cut, as the documentation says: with a command of its own, or by going on."""
        words, rows = self._way(name), self.home.lines("sessions", "list", "--json")
        if "-z" in words and any(row["state"] == "interrupted" for row in rows[1:]):
            words = ["resume"]  # `-c` finishes the newest only
        if "-z" in words:
            self.said.append(name)
        if self.home.run(*words, status=(0, 2) if "-c" in words else (0,)).wait() == 2:
            assert "There is no session to go on with" in self.home.processes[-1].err
        elif "-z" in words:
            self.whole.append(name)
        if words[0] == "-c":
            self.home.run("resume")

    def judge(self, *, again: bool) -> None:
        """Everything that was heard is done once, and an answer is shown once at most."""
        heard = judge(self.home, self.model, self.said, set(self.whole), self.tally, again=again)
        shown = "".join(p.out + p.err for p in self.home.processes if "sessions" not in p.words)
        for name in self.said:
            times = shown.count(answer(name))
            assert times <= 1, (name, "was shown", times, "times")
            self.tally["stored, and cut before it was shown"] += heard[name] - times


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("wall", ["none", "bubblewrap", "landlock"])
def test_one_shots_that_are_killed_at_any_moment(tmp_path, server, kills, wall):
    dice, tally, number = random.Random(f"one-shots {wall}"), Counter[str](), 0
    while tally["kills"] < -(-kills // 3):
        number += 1
        with Model(slow=0.05, seed=number) as model:
            home = Home(tmp_path / str(number), server, CONFIG.format(url=model.url, wall=wall))
            person = Person(home, model, dice, tally)
            try:
                for trial in range(SESSIONS):
                    person.try_one(f"{number}x{trial}")
                    if tally["kills"] >= -(-kills // 3):
                        break
                person.judge(again=wall != "none")
            finally:
                home.end_all()
    print(f"\none-shots, wall {wall}: {dict(tally)}")

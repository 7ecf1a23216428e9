"""One-shots killed at any moment: what was heard is done once, and a person who goes on is told of all of it."""

import random
from collections import Counter

import pytest
from word_home import Home, moment, orphans, valid
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
            assert process.wait() == 0, (words, process.err)
            self.whole += [name] if "-z" in words else []
            self.longest = max(0.6, 0.7 * self.longest + 0.4 * self._life(process))
        return hit

    def _life(self, process) -> float:
        import time

        return time.monotonic() - process.began

    def _go_on(self, name: str) -> None:
        """Finish what was cut, as the documentation says: with a command of its own, or by going on."""
        words = self._way(name)
        if "-z" in words and any(row["state"] == "interrupted" for row in self.home.lines("sessions", "list", "--json")[1:]):
            words = ["resume"]  # `-c` finishes the newest only
        if "-z" in words:
            self.said.append(name)
            self.whole.append(name)
        self.home.run(*words)
        if words[0] == "-c":
            self.home.run("resume")

    def judge(self) -> None:
        """Everything that was heard is done once, is told once, and nothing else is there."""
        assert not self.model.refused, self.model.refused
        assert orphans(self.home) == {}
        rows = self.home.lines("sessions", "list", "--json", "-n", "1000")
        assert {row["state"] for row in rows} <= {"idle"}, rows
        heard, answered = Counter[str](), Counter[str]()
        for row in rows:
            messages = self.home.lines("sessions", "export", row["id"])
            assert not valid(messages), (valid(messages), messages)
            for name in self.said:
                heard[name] += sum(job(name)[:-16] in m["content"] for m in messages if m["role"] == "user")
                answered[name] += sum(answer(name) in (m["content"] or "") for m in messages if m["role"] == "assistant")
        effects, shown = self.home.effects(), "".join(p.out + p.err for p in self.home.processes if "sessions" not in p.words)
        for name in self.said:
            self._judged(name, heard[name], answered[name], effects, shown)

    def _judged(self, name: str, heard: int, answered: int, effects: Counter[str], shown: str) -> None:
        steps = {line.split()[0] for line in effects if line.startswith(f"{name}.")}
        assert heard <= 1, (name, "is there twice")
        assert answered == heard, (name, heard, answered)
        assert heard or name not in self.whole, (name, "was lost although its process ended")
        assert heard or not steps, (name, "had effects and is not there")
        self.tally["turns"] += heard
        self.tally["cut before they were heard"] += not heard
        for step in steps:
            self.tally["effects"] += 1
            assert effects[f"{step} end"] == 1, (step, effects)
            self.tally["begun again behind a wall"] += effects[f"{step} begin"] - 1
        times = shown.count(answer(name))
        assert times <= 1, (name, "was shown", times, "times")
        self.tally["never shown, only stored"] += heard - times


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
                person.judge()
                if wall == "none":
                    assert not tally["begun again behind a wall"]
            finally:
                home.end_all()
    print(f"\none-shots, wall {wall}: {dict(tally)}")

"""People at once in one process, and each of them judged: their requests, answers and rows are those they have alone.

Each is the others' presence. Whose conversation it is says the seed.
"""

import random
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from people_house import CROWD, until
from people_judge import comparable, counted_ids, differences, foreign, only_ordered_otherwise
from people_near import Near, near
from people_rows import rows_of_person
from people_script import Step, script_of
from people_talk import Talk
from people_telegram import PLACES, number_of, said

from hermes_core.values import frozen

__all__ = ["Parts", "Play", "Setting", "judged", "judged_crowd"]

STEPS = 6
SHARED = b"/people/telegram-"  # below which a conversation works that a whole group shares
Parts = dict[str, list[str]]


@frozen
class Setting:
    """How a group is set up: whether everybody has an ``own`` thread there, and whether groups are ``told`` whose
    history a conversation knows. ``more`` are further settings of the gateway."""

    own: bool = True
    told: bool = False
    more: str = ""

    @property
    def places(self) -> tuple[str, ...]:
        """Where somebody may be judged: not where all share one conversation."""
        return PLACES if self.own else ("dm", "group")

    @property
    def lines(self) -> str:
        """The settings."""
        own = ["thread_sessions_per_user: true"] if self.own else []
        told = [] if self.told else ["tell_groups: false"]
        return "\n  ".join([*own, *told, *filter(None, [self.more])])


class Play:
    """What came of the conversations of some people, each with a script of their own.

    They speak all at once, or in turn: then who comes later could know what those before them did.
    """

    def __init__(self, folder: Path, scripts: Mapping[str, Sequence[Step]], setting: Setting, *, in_turn: bool) -> None:
        with near(folder, setting.lines, people=("oli", "cat", *CROWD)) as made:
            for number, place in enumerate(PLACES if setting.told else ()):  # what comes of a first message is cat's
                _says(made, "cat", place, f"cat-{number}")
            self.talks = {who: Talk(made, who, random.Random(f"{who} {list(scripts[who])}")) for who in scripts}
            if not setting.own:  # one thing each, and nothing more there: from then on all who share it know it
                for who in scripts:
                    _says(made, who, "thread", f"{who}-0")
            if in_turn:
                for who, script in scripts.items():
                    self.talks[who].play(list(script))
            else:
                self._all(scripts)
            _still(made)
            self.parts = {who: self._of(made, who, setting.places) for who in scripts}
        for who, parts in self.parts.items():
            rows = rows_of_person(made.home.home / "state.db", (who, str(number_of(who))))
            parts.update({f"rows of {name}": texts for name, texts in rows.items()})

    def _all(self, scripts: Mapping[str, Sequence[Step]]) -> None:
        """Let each do what their script says, at the same time."""
        failed = list[Exception]()

        def run(who: str, script: Sequence[Step]) -> None:
            try:
                self.talks[who].play(list(script))
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=run, args=one, daemon=True) for one in scripts.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    def _of(self, made: Near, who: str, places: tuple[str, ...]) -> Parts:
        requests = [body.decode() for body in made.model.of(who) if SHARED not in body]
        shown = {place: [said(one) for one in made.phones.shown(who, place)] for place in places}
        heads = made.model.heads_of(who)
        return {
            "requests": requests,
            "heads": heads,
            **shown,
            "api": [f"{step}: {text}" for step, text in self.talks[who].api],
        }


def judged(
    folder: Path, scripts: Mapping[str, Sequence[Step]], setting: Setting, *, of: Sequence[str] = (), in_turn: bool
) -> list[str]:
    """What is wrong: where somebody (``of`` all, or those named) can tell that the others were there."""
    beside = Play(folder, scripts, setting, in_turn=in_turn).parts
    wrong = []
    for who in of or scripts:
        others = [mark for one in CROWD if one != who for mark in (f"{one}-", str(number_of(one)))]
        wrong += [f"{who} {part}: {t}" for part, texts in beside[who].items() for t in texts if foreign([t], others)]
        wrong += [f"{who} {part}: counted {one}" for part, texts in beside[who].items() for one in counted_ids(texts)]
        alone = Play(folder, {who: scripts[who]}, setting, in_turn=in_turn).parts[who]
        for part in sorted(alone.keys() | beside[who].keys()):
            one, other = alone.get(part, []), beside[who].get(part, [])
            if not in_turn and not part.startswith("requests") and only_ordered_otherwise(one, other):
                continue
            wrong += [f"{who}, {part} {found}" for found in differences(comparable(one), comparable(other))]
    return wrong


def judged_crowd(folder: Path, crowd: int) -> list[str]:
    """What is wrong with the conversations of eight seeds, the first of which is that many times eight."""
    seeds = {who: crowd * len(CROWD) + at for at, who in enumerate(CROWD)}
    setting = Setting(own=bool(crowd % 2), told=crowd % 4 == 1)
    scripts = {who: script_of(seed, who, STEPS, setting.places) for who, seed in seeds.items()}
    return [f"seeds from {crowd * len(CROWD)}: {one}" for one in judged(folder, scripts, setting, in_turn=False)]


def _says(made: Near, who: str, place: str, tag: str) -> None:
    made.phones.say(who, place, f"{tag}. hello all")
    until(lambda: any(f"done {tag}." in said(m) for m in made.phones.shown(who, place)), f"{who} is not answered")


def _still(made: Near) -> None:
    """Wait until nothing goes on, and look again a moment later."""
    deadline, calm = time.monotonic() + 20, 0
    while calm < 2:
        assert time.monotonic() < deadline, "it does not come to rest"
        calm = calm + 1 if made.is_idle() else 0
        time.sleep(0.005)

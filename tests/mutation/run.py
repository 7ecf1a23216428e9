"""Mutations of what must not break: ``nox -s mutation -- --room policy --sample 60 --seed 1``.

Each room's table row says how many mistakes its tests noticed. What survives is listed. A mistake that nobody can see
is in ``equivalent.toml`` with the reason. What was found is kept in ``.mutation/``: kills while their file stays as it
is, the rest while the tests do as well. So a run that was ended goes on, and new tests are played for what survived.
"""

import argparse
import hashlib
import json
import random
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

import attrs.validators  # noqa: F401 - what every fork needs, but nothing of the project: a mistake may be in it
import hypothesis
import pytest
import sqlalchemy  # noqa: F401
import yaml  # noqa: F401
from attrs import astuple, define, fields
from mutants import Mistake, Mutant, mutants_of, statements_of
from runner import OPTIONS, ROOT, Played, Room, Runner, Source, forked, played_anew, verdict

HERE = Path(__file__).parent
KEPT = ROOT / ".mutation"
SQL = "hermes_core/store/versions/head/__init__.py"
KILLED = ("killed", "late")
AIM = 95.0  # percent


@define
class Row:
    """A room's line of the table."""

    room: str
    mutants: int
    played: int = 0
    killed: int = 0
    late: int = 0
    equivalent: int = 0
    survived: int = 0

    @property
    def score(self) -> float:
        """Percent of those that can be seen."""
        return 100 * (self.killed + self.late) / max(1, self.played - self.equivalent)


class Kept:
    """What was found before and still holds."""

    def __init__(self, room: Room) -> None:
        KEPT.mkdir(exist_ok=True)
        self.path = KEPT / f"{room.name}.jsonl"
        files = [p for name in room.tests for p in (sorted((ROOT / name).rglob("*")) or [ROOT / name]) if p.is_file()]
        self.tests = _digest(*(p for p in files if p.suffix != ".pyc"))

    def found(self) -> dict[str, Played]:
        """By mistake."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        sources, found = dict[str, str](), dict[str, Played]()
        for row in map(json.loads, lines):
            name = row["file"]
            sources[name] = sources.get(name) or _digest(ROOT / name)
            holds = row["source"] == sources[name] and (row["state"] in KILLED or row["tests"] == self.tests)
            if holds:
                found[row["key"]] = Played(row["state"], row["by"])
        return found

    def add(self, one: Mistake, played: Played) -> None:
        """Write a result down at once."""
        about = {"key": one.key, "file": one.file, "source": _digest(ROOT / one.file), "tests": self.tests}
        with self.path.open("a") as file:
            file.write(json.dumps({**about, "state": played.state, "by": played.by}) + "\n")


def _digest(*paths: Path) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def play(room: Room, others: Sequence[Room], sample: int, seed: int, reasons: dict[str, str], folder: Path) -> Row:
    """Play a room, or a sample of it, and print what survives. The ``others`` have the same tests."""
    sources = {str(p.relative_to(ROOT)): p for one in others for name in one.files for p in sorted(ROOT.glob(name))}
    made = {name: mutants_of(path, name) for name, path in sources.items()}
    ours = {str(p.relative_to(ROOT)) for name in room.files for p in ROOT.glob(name)}
    every: list[Mistake] = [one for name, (_, found) in made.items() if name in ours for one in found]
    if room.sql:
        every += statements_of(ROOT / SQL, SQL, room.sql)
    chosen = random.Random(f"{seed} {room.name}").sample(every, min(sample or len(every), len(every)))
    kept = Kept(room)
    results = kept.found()
    known = {one.key: one for one in chosen}

    wrong = [one for one in chosen if one.key not in results]
    print(f"{room.name}: {len(every)} mutants, {len(chosen)} chosen, {len(chosen) - len(wrong)} known", flush=True)

    def room_of_its_own() -> list[tuple[str, list[tuple[str, float]]]]:
        known = {name: Source(path, made[name][0]) for name, path in sources.items()}
        looked = KEPT / f"{kept.tests}-{_digest(*sources.values())}.json"
        runner = Runner(known, wrong, folder, looked, room.enough)
        runner.told = kept.add
        pytest.main([*OPTIONS, f"--basetemp={folder / 'tests'}", *room.tests], plugins=[runner])
        if not runner.ended:
            raise SystemExit(f"The tests of {room.name} were not collected.")
        return runner.anew

    late = forked(room_of_its_own, folder / "room", quiet=False) if wrong else []
    if not isinstance(late, list):
        raise SystemExit(f"The room {room.name} could not be played.")
    anew = dict(late)
    if anew and (failed := forked(lambda: played_anew(next(iter(anew.values()))), folder / "said")):
        raise SystemExit(f"Tests fail where nothing is wrong: {failed}")
    for key, tests in anew.items():
        one = known[key]
        assert isinstance(one, Mutant)
        path = str(sources[one.file])

        def work(one: Mutant = one, path: str = path, tests: list[tuple[str, float]] = tests) -> list[str]:
            return played_anew(tests, path, one.compiled(made[one.file][0], path))

        kept.add(one, verdict(forked(work, folder / "said", limit=90 + 10 * sum(s for _, s in tests))))
    found = kept.found()
    return count(room, len(every), [(one, found[one.key]) for one in chosen], reasons)


def count(room: Room, mutants: int, results: list[tuple[Mistake, Played]], reasons: dict[str, str]) -> Row:
    """The room's line. Prints what survived, why where that is known, and what was noticed though nobody should."""
    row = Row(room.name, mutants, len(results))
    for one, played in sorted(results, key=lambda result: (result[0].file, result[0].line)):
        why, end = reasons.get(one.key), ""
        row.killed += played.state == "killed"
        row.late += played.state == "late"
        if played.state not in KILLED:
            row.equivalent += why is not None
            row.survived += why is None
            end = f"cannot be seen: {why}" if why else played.state
        elif why:
            end = f"is said to be one that cannot be seen, but was by {played.by or 'its limit of time'}"
        if end:
            number = f" #{one.number}" if one.number else ""
            print(f"  {one.file}:{one.line} {one.place or '(module)'} {end}\n    {one.change}{number}")
    return row


def main(words: Sequence[str] = ()) -> int:
    """Play rooms; 1 when one is below the aim."""
    listed = {name: Room(name=name, **told) for name, told in tomllib.loads((HERE / "rooms.toml").read_text()).items()}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", action="append", choices=[*listed], help="Only this room; may be given again.")
    parser.add_argument("--sample", type=int, default=0, help="So many mutants of each room instead of all.")
    parser.add_argument("--seed", type=int, default=1, help="Which sample.")
    parser.add_argument("--anew", action="store_true", help="Forget what was found before.")
    options = parser.parse_args(words or None)
    if options.anew:
        shutil.rmtree(KEPT, ignore_errors=True)
    equivalent = tomllib.loads((HERE / "equivalent.toml").read_text())
    reasons = {" ".join((one["file"], one["place"], one["change"])): one["why"] for one in equivalent["mutant"]}
    house = hypothesis.settings(deadline=None, database=None, derandomize=True, phases=[hypothesis.Phase.generate])
    hypothesis.settings.register_profile("mutation", house)
    with tempfile.TemporaryDirectory(prefix="hermes-m-") as folder:
        tempfile.tempdir = folder
        names = options.room or listed
        rows = []
        for room in map(listed.__getitem__, names):
            same = [one for one in listed.values() if one.tests == room.tests]
            rows.append(play(room, same, options.sample, options.seed, reasons, Path(folder)))
    print("".join(f"{field.name:>12}" for field in fields(Row)) + "       score")
    for row in rows:
        print("".join(f"{told:>12}" for told in astuple(row)) + f"{row.score:>10.1f} %")
    return int(any(row.score < AIM for row in rows))


if __name__ == "__main__":
    sys.exit(main())

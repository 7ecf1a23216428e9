"""How long the guard looks at a command: ``benchmarks/guard.py [--rounds N]``. CPU time, after the first import.

Everyday commands are the corpus of the guard's tests; a long one is 4 KB of them in a row, which is denser than what
people write, or 4 KB in one here-document, which is what models write.
"""

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

from hermes_tool_guard.guard import check, guarded_paths

CORPUS = Path(__file__).parents[1] / "plugins/hermes-tool-guard/tests/corpus/everyday.txt"
GUARDED = guarded_paths("/home/me/.hermes")


def milliseconds(commands: Sequence[str], rounds: int) -> list[float]:
    """CPU milliseconds of each look, sorted."""
    times = []
    for _ in range(rounds):
        for command in commands:
            began = time.process_time()
            check(command, root="/work/project", home="/home/me", guarded=GUARDED)
            times.append((time.process_time() - began) * 1000)
    return sorted(times)


def long_ones(commands: Sequence[str], count: int) -> list[str]:
    """Commands of 4 KB."""
    chance, made = random.Random(1), []
    for _ in range(count):
        text = ""
        while len(text) < 4000:
            text += f"{chance.choice(commands)}; "
        made.append(text[: text.rindex("; ")])
    return made


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    everyday = [line.replace("␤", "\n") for line in CORPUS.read_text(encoding="utf-8").split("\n") if line]
    single = [c for c in everyday if "\n" not in c and not c.endswith("&")]
    script = "cat > notes.md <<'EOF'\n" + "A line of text, as models write them.\n" * 105 + "EOF\ngit add notes.md"
    milliseconds(everyday, 1)
    for name, commands, bound in (
        ("everyday", everyday, 0.3),
        ("4 KB of everyday ones", long_ones(single, 40), 2.0),
        ("4 KB here-document", [script] * 40, 2.0),
    ):
        times = milliseconds(commands, rounds)
        p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
        kept = "" if p99 <= bound else "   missed"
        print(f"{name:24} p50 {p50:6.3f} ms   p99 {p99:6.3f} ms   bound {bound:g} ms{kept}")


if __name__ == "__main__":
    main()

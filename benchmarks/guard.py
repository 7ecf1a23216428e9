"""How long the guard looks at a command: ``benchmarks/guard.py [--rounds N]``. CPU time, after the first import.

Everyday commands are the corpus of the guard's tests; a long one is 4 KB of them in a row, which is denser than what
people write, or what models write: one here-document, one pipeline, nested substitutions. The guard knows statements
again that it has seen: "never seen" is what they take without that.
"""

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

from hermes_tool_guard.guard import check, guarded_paths
from hermes_tool_guard.memory import memory_of

CORPUS = Path(__file__).parents[1] / "plugins/hermes-tool-guard/tests/corpus/everyday.txt"
GUARDED = guarded_paths("/home/me/.hermes")


def milliseconds(commands: Sequence[str], rounds: int, *, forget: bool = False) -> list[float]:
    """CPU milliseconds of each look, sorted."""
    times = []
    for _ in range(rounds):
        for command in commands:
            if forget:
                memory_of.cache_clear()
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


def pipeline(count: int) -> list[str]:
    """Pipelines of 4 KB, each another."""
    filters = ("grep -v '{}'", "sed 's/{}/x/'", "sort -k{}", "awk '{{print ${}}}'", "head -{}", "tr -d '{}'")
    chance, made = random.Random(2), []
    for n in range(count):
        text = f"cat log{n}.txt"
        while len(text) < 4000:
            text += " | " + chance.choice(filters).format(chance.randint(1, 99))
        made.append(text)
    return made


def nested(count: int) -> list[str]:
    """Substitutions inside substitutions, 4 KB of them, each command another."""
    one = 'echo "$(basename "$(dirname "$(git rev-parse --show-toplevel)")")-{}"'
    return ["; ".join(one.format(n * 100 + i) for i in range(4000 // len(one))) for n in range(count)]


def worst() -> list[str]:
    """What is asked about because it is too long or too deep: the longest look there is."""
    segments = "; ".join(["ls"] * 25_000)
    return [
        "a" * 128_000,
        segments,
        "(" * 5000,
        "$(" * 5000,
        "echo " + "{a,b}" * 800,
        "a=(" * 5000,
        "if a; then " * 2000,
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    everyday = [line.replace("␤", "\n") for line in CORPUS.read_text(encoding="utf-8").split("\n") if line]
    single = [c for c in everyday if "\n" not in c and not c.endswith("&")]
    script = "cat > notes.md <<'EOF'\n" + "A line of text, as models write them.\n" * 105 + "EOF\ngit add notes.md"
    dense = long_ones(single, 40)
    milliseconds([*everyday, *dense], 1)
    for name, commands, bound, forget in (
        ("everyday", everyday, 0.3, False),
        ("everyday, never seen", everyday, 0.3, True),
        ("4 KB of everyday ones", dense, 2.0, False),
        ("4 KB of them, never seen", dense, 2.0, True),
        ("4 KB here-document", [script] * 40, 2.0, True),
        ("4 KB pipeline", pipeline(40), 2.0, True),
        ("4 KB of substitutions", nested(40), 2.0, True),
        ("too long or too deep", worst(), 250.0, True),
    ):
        times = milliseconds(commands, rounds, forget=forget)
        p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
        kept = "" if p99 <= bound else "   missed"
        print(f"{name:24} p50 {p50:7.3f} ms   p99 {p99:7.3f} ms   bound {bound:g} ms{kept}")


if __name__ == "__main__":
    main()

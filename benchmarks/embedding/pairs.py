"""The programs of the embedding page beside the same in pydantic-ai: lines, milliseconds, memory, in pairs.

``python benchmarks/embedding/pairs.py PYTHON``, where PYTHON has ``pydantic-ai-slim[openai]`` and ``pytest``. Two of
the five have no other side: it has no product of one's own, and people who answer from elsewhere are yours to store.
Not like for like: Hermes stores each turn before it acts, and pydantic-ai stores nothing.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from measure import Run, run  # noqa: E402 - it lies above
from run import model_server  # noqa: E402


def lines(name: str) -> int:
    """How long a program is, without its docstring and blank lines."""
    text = (HERE / f"{name}.py").read_text("utf-8")
    return sum(1 for line in text.splitlines()[1:] if line.strip())


def main() -> None:
    """Print a row for each pair."""
    theirs, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"Hermes, pydantic-ai: medians of {rounds} pairs")
    print(f"{'program':<10} {'lines':>9} {'ms':>15} {'ratio':>6} {'MB':>11}")
    with model_server() as url:
        for name in ("script", "batch", "tests"):
            pairs: list[tuple[Run, Run]] = []
            for number in range(rounds + 1):
                with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
                    env = {**os.environ, "HOME": one, "HERMES_TRUST": "1"}
                    ours = run([sys.executable, str(HERE / f"{name}_hermes.py"), url, one], env)
                    pair = ours, run([theirs, str(HERE / f"{name}_pydantic.py"), url, other], env)
                pairs += [pair] if number else []  # the first warms the caches of the disk
            wall = [statistics.median(one[side].wall for one in pairs) * 1000 for side in (0, 1)]
            peak = [statistics.median(one[side].peak for one in pairs) for side in (0, 1)]
            ratio = statistics.median(a.wall / b.wall for a, b in pairs)
            long = lines(f"{name}_hermes"), lines(f"{name}_pydantic")
            row = f"{name:<10} {long[0]:>4} {long[1]:>4} {wall[0]:>7.0f} {wall[1]:>7.0f}"
            print(f"{row} {ratio:>6.2f} {peak[0]:>5.0f} {peak[1]:>5.0f}")


if __name__ == "__main__":
    main()

"""How well secrets are found: ``benchmarks/redaction_quality.py [--shown N] [PATH ...]``.

Two figures. Recall: of every published format in every place it stands in, how many are masked; the corpus is
``plugins/hermes-tool-redaction/tests/wide.py``. False alarms: how many lines of ordinary text change, for each path;
a folder is read whole. Without paths: this repository, its log and lock file, Python's library, and /usr/share/doc.
Tests are left out, as they hold secrets on purpose; manuals do too, so look at what ``--shown`` prints.
"""

import argparse
import gzip
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE / "plugins/hermes-tool-redaction/tests"))

from engine import redact  # noqa: E402 - the tests' own, beside their corpus
from measuring import left  # noqa: E402
from wide import wide  # noqa: E402

RECALL, ALARMS = 0.99, 1 / 10_000
SKIPPED = {"node_modules", "_build", "__pycache__", "site-packages"}
ON_PURPOSE = (
    "hermes-tool-redaction/tests",
    "tests/hostile",
    "/test/",
    "/tests/",
    "certdata",
    "rules.toml",
    ".example.",
)


def recall(seed: str, shown: int) -> bool:
    """Print how many secrets of the wide corpus are masked, and say whether that will do."""
    rows = list(wide(seed))
    missed = [row for row in rows if left(row["secret"], redact(row["text"]), around=row["around"])]
    for row in missed[:shown]:
        print("  left ", repr(row["text"])[:150])
    found = 1 - len(missed) / len(rows)
    kinds, places = len({row["kind"] for row in rows}), len({row["around"] for row in rows})
    print(f"recall {seed:12} {found:.4f} of {len(rows):,} ({kinds} kinds, {places:,} texts around them)")
    return found >= RECALL


def texts(path: Path) -> Iterator[tuple[str, str]]:
    """The texts of a file or a folder, with their names; what is no text is left out."""
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        inside = str(file.relative_to(path)) if path.is_dir() else ""
        below = file.parts[len(path.parts) :]
        if (
            SKIPPED & set(below)
            or any(part[0] == "." for part in below)
            or any(mark in f"/{inside}" for mark in ON_PURPOSE)
        ):
            continue
        if not file.is_file() or file.stat().st_size > 8 << 20:
            continue
        data = file.read_bytes()
        try:
            data = gzip.decompress(data) if file.suffix == ".gz" else data
            yield str(file), data.decode()
        except (OSError, EOFError, UnicodeDecodeError):
            continue


def alarms(name: str, found: Iterator[tuple[str, str]], shown: int) -> bool:
    """Print how many lines of some texts are changed, and say whether that will do."""
    changed, lines = Counter[str](), 0
    for file, text in found:
        before = text.splitlines()
        lines += len(before)
        after = redact(text).splitlines()
        for was, now in zip(before, after, strict=True):
            if was != now:
                changed[file] += 1
                if sum(changed.values()) <= shown:
                    print(f"  {Path(file).name}: {was.strip()[:110]!r} -> {now.strip()[:90]!r}")
    many = sum(changed.values())
    per = many / max(lines, 1)
    print(f"alarms {name[-40:]:40} {many:5} of {lines:9,} lines, {per * 10_000:.2f} in 10,000")
    return per <= ALARMS


def main() -> int:
    """Print the figures; 1 when one is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--shown", type=int, default=0, help="how many of each are printed")
    parser.add_argument("paths", nargs="*", type=Path)
    wish = parser.parse_args()
    good = [recall(seed, wish.shown) for seed in ("wide", "another")]
    standard = [HERE, HERE / "uv.lock", Path(sysconfig.get_path("stdlib")), Path("/usr/share/doc")]
    good += [alarms(str(path), texts(path.resolve()), wish.shown) for path in wish.paths or standard]
    if not wish.paths:
        log = subprocess.run(["git", "-C", HERE, "log"], capture_output=True, text=True, check=False).stdout
        good.append(alarms("git log", iter([("git log", log)]), wish.shown))
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())

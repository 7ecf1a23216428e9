"""Check, shift or stretch .srt files.

srt.py check IN.srt
srt.py shift IN.srt OUT.srt --by SECONDS
srt.py shift IN.srt OUT.srt --points SHOWN=SPOKEN SHOWN=SPOKEN
"""

import argparse
import re
import sys

TIMES = re.compile(r"(\d+):(\d\d):(\d\d)[,.](\d{1,3})\s*-->\s*(\d+):(\d\d):(\d\d)[,.](\d{1,3})")


def milliseconds(hours, minutes, seconds, parts):
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(parts.ljust(3, "0"))


def moment(text):
    pieces = [float(p) for p in text.replace(",", ".").split(":")]
    return round(sum(p * 60**n for n, p in enumerate(reversed(pieces))) * 1000)


def clock(at):
    return f"{at // 3_600_000:02}:{at // 60_000 % 60:02}:{at // 1000 % 60:02},{at % 1000:03}"


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    cues = []
    for block in re.split(r"\r?\n\s*\r?\n", text.strip()):
        found = TIMES.search(block)
        if found:
            said = block[found.end() :].strip("\r\n").splitlines()
            cues.append(
                (
                    milliseconds(*found.groups()[:4]),
                    milliseconds(*found.groups()[4:]),
                    [line.strip() for line in said if line.strip()],
                )
            )
    if not cues:
        sys.exit(f"srt: there is no subtitle in {path}")
    return cues


def check(path):
    cues, bad, before = read(path), 0, 0
    for number, (start, end, said) in enumerate(cues, 1):
        letters = sum(map(len, said))
        for wrong, words in (
            (end <= start, "ends before it begins"),
            (start < before, "overlaps the one before"),
            (len(said) > 2, f"has {len(said)} lines"),
            (any(len(line) > 42 for line in said), "has a line of more than 42 letters"),
            (not said, "is empty"),
            (end > start and letters / ((end - start) / 1000) > 21, "is too fast to read"),
        ):
            if wrong:
                bad += 1
                print(f"{number} at {clock(start)}: {words}")
        before = max(before, end)
    print(f"{len(cues)} subtitles, {bad} problems")
    return 1 if bad else 0


def shift(given):
    slope, base = 1.0, (given.by or 0) * 1000
    if given.points:
        (a, b), (c, d) = (tuple(map(moment, one.split("="))) for one in given.points)
        if a == c:
            sys.exit("srt: the two points are the same moment")
        slope = (d - b) / (c - a)
        base = b - slope * a
    cues = sorted(
        (max(0, round(s * slope + base)), max(0, round(e * slope + base)), said) for s, e, said in read(given.source)
    )
    with open(given.target, "w", encoding="utf-8", newline="\n") as file:
        for number, (start, end, said) in enumerate(cues, 1):
            file.write("\n".join([str(number), f"{clock(start)} --> {clock(end)}", *said, "", ""]))
    print(f"{len(cues)} subtitles, the first at {clock(cues[0][0])}, the last at {clock(cues[-1][0])}")
    return 0


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=("check", "shift"))
    words.add_argument("source")
    words.add_argument("target", nargs="?")
    words.add_argument("--by", type=float)
    words.add_argument("--points", nargs=2, metavar="SHOWN=SPOKEN")
    given = words.parse_args()
    try:
        if given.what == "shift" and (not given.target or (given.by is None) == (given.points is None)):
            words.error("say a file to write, and --by or --points")
        sys.exit(check(given.source) if given.what == "check" else shift(given))
    except (OSError, ValueError) as error:
        sys.exit(f"srt: {error}")

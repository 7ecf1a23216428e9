"""Rename files by a rule, shown first, with a way back.

rename.py FOLDER [--rule 'PATTERN=>NEW'] [--lower] [--spaces _] [--ending .x] [--do UNDO.json]
rename.py FOLDER --undo UNDO.json
"""

import argparse
import json
import os
import re
import sys


def plan(given):
    names = sorted(
        n for n in os.listdir(given.folder) if os.path.isfile(os.path.join(given.folder, n)) and not n.startswith(".")
    )
    pattern, _, new = given.rule.partition("=>")
    made, number = {}, 0
    for name in names:
        stem, ending = os.path.splitext(name)
        if given.ending and ending.lower() != given.ending.lower():
            continue
        if given.rule:
            if not re.search(pattern, stem):
                continue
            number += 1
            stem = re.sub(
                pattern, re.sub(r"\{n(?::(\d+))?\}", lambda m, n=number: f"{n:0{m[1] or 1}}", new), stem, count=1
            )
        stem = stem.lower() if given.lower else stem
        stem = stem.replace(" ", given.spaces) if given.spaces else stem
        if stem + ending != name:
            made[name] = stem + ending
    return names, made


def clashes(names, made):
    staying, seen = {n.casefold() for n in names if n not in made}, {}
    for old, new in made.items():
        if "/" in new or new in ("", ".", ".."):
            yield f"{old}: {new!r} is no name of a file"
        elif new.casefold() in staying:
            yield f"{old} -> {new}: there is one already"
        elif new.casefold() in seen:
            yield f"{old} and {seen[new.casefold()]} would both be {new}"
        seen.setdefault(new.casefold(), old)


def move(folder, steps):
    """By way of names that nobody has, so that two may swap theirs."""
    held = {old: f".rename-{n}-{os.getpid()}" for n, old in enumerate(steps)}
    for old in steps:
        os.rename(os.path.join(folder, old), os.path.join(folder, held[old]))
    for old, new in steps.items():
        os.rename(os.path.join(folder, held[old]), os.path.join(folder, new))


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder")
    words.add_argument("--rule", default="")
    words.add_argument("--lower", action="store_true")
    words.add_argument("--spaces", default="")
    words.add_argument("--ending", default="")
    words.add_argument("--do", metavar="UNDO.json")
    words.add_argument("--undo", metavar="UNDO.json")
    given = words.parse_args()
    try:
        if given.undo:
            with open(given.undo, encoding="utf-8") as file:
                steps = {new: old for old, new in json.load(file).items()}
            names = os.listdir(given.folder)
            gone = [n for n in steps if n not in names]
            if gone:
                sys.exit(f"rename: not there any more: {', '.join(gone[:10])}; nothing was done")
            move(given.folder, steps)
            sys.exit(print(f"{len(steps)} have their old names again"))
        names, made = plan(given)
        problems = list(clashes(names, made))
        for old, new in made.items():
            print(f"{old} -> {new}")
        if problems:
            sys.exit("rename: nothing is done:\n" + "\n".join(problems))
        if given.do:
            with open(given.do, "x", encoding="utf-8") as file:
                json.dump(made, file, ensure_ascii=False, indent=1)
                file.flush()
                os.fsync(file.fileno())
            move(given.folder, made)
        print(f"{len(made)} of {len(names)} files{' renamed' if given.do else ' would be renamed'}")
    except (OSError, re.error, ValueError) as error:
        sys.exit(f"rename: {error}")

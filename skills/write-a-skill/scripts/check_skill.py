"""Look at a skill as a reader does who opens it.   check_skill.py FOLDER   Exit status 1 when something is missing."""

import pathlib
import re
import sys

SENTENCE = re.compile(r"[.!?](?:\s|$)")


def main(folder):
    place = pathlib.Path(folder)
    text = (place / "SKILL.md").read_text(encoding="utf-8")
    parts = re.match(r"---\n(.*?)\n---\n(.*)", text, re.S)
    if not parts:
        print("SKILL.md: it does not begin with --- and fields")
        return 1
    head, body = parts[1], parts[2]
    fields = {name: value.strip().strip("\"'") for name, value in re.findall(r"^(\w+):(.*)$", head, re.M)}
    found = []
    name, about = fields.get("name", ""), fields.get("description", "")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name):
        found.append(f"name: {name!r} is no verb and object with hyphens")
    if not about or len(SENTENCE.findall(about)) > 2:
        found.append("description: when to use it, in at most two sentences")
    if len(body.splitlines()) > 150:
        found.append(f"body: {len(body.splitlines())} lines, of at most 150")
    for path in sorted(place.rglob("*")):
        shown = path.relative_to(place).as_posix()
        if path.is_file() and shown != "SKILL.md" and shown not in body:
            found.append(f"{shown}: nobody reads it, as the body does not point at it")
    pointed = sorted(set(re.findall(r"\b(?:references|templates|scripts|assets)/[\w./-]*\w", body)))
    found += [f"{one}: the body points at it, and it is not there" for one in pointed if not (place / one).exists()]
    print("\n".join(found) or "nothing is missing")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sys.exit(main(sys.argv[1]))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"check_skill: {error}")

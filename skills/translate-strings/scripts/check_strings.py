"""Compare a translation with its source: keys, placeholders, tags, addresses, numbers.   check_strings.py SOURCE TARGET"""

import json
import re
import sys
from collections import Counter

PLACE = re.compile(
    r"\$\{[^{}]{1,60}\}|\{\{?[^{}\n]{0,60}\}?\}|%(?:\(\w+\)|\d+\$)?[-+0 #]*\d*(?:\.\d+)?[sdifuxXc@]|%%|</?[A-Za-z][^<>]{0,200}>|https?://[^\s<>\"')]+|&[a-z]+;"
)
NUMBER = re.compile(r"(?<![\w{])\d+(?:[.,]\d+)*")


def flat(value, path=""):
    if isinstance(value, dict):
        for key, one in value.items():
            yield from flat(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from flat(one, f"{path}[{number}]")
    elif isinstance(value, str):
        yield path, value


def po(text):
    for block in re.split(r"\n\s*\n", text):
        words = {"msgctxt": "", "msgid": "", "msgstr": ""}
        part = ""
        for line in block.splitlines():
            found = re.match(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?)\s+"(.*)"\s*$', line) or re.match(
                r'()"(.*)"\s*$', line
            )
            if found:
                part = found[1] or part
                words[part] = words.get(part, "") + found[2]
        if words["msgid"]:
            name = f"{words['msgctxt']}|{words['msgid']}" if words["msgctxt"] else words["msgid"]
            yield name, words["msgid"], words["msgstr"] or words.get("msgstr[0]", "")


def read(path, target):
    with open(path, encoding="utf-8-sig") as file:
        text = file.read()
    if path.endswith(".json"):
        return dict(flat(json.loads(text)))
    if path.endswith((".po", ".pot")):
        return {name: (said if target else source) for name, source, said in po(text)}
    if path.endswith(".properties"):
        pairs = (
            re.split(r"\s*[=:]\s*", line.strip(), maxsplit=1)
            for line in text.splitlines()
            if line.strip() and line.strip()[0] not in "#!"
        )
        return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}
    return {f"line {number}": line for number, line in enumerate(text.splitlines(), 1)}


def problems(source, target):
    for key in source:
        if key not in target:
            yield f"{key}: is missing"
    for key in target:
        if key not in source:
            yield f"{key}: is not in the source"
    for key in (k for k in source if k in target):
        one, other = source[key], target[key]
        if one.strip() and not other.strip():
            yield f"{key}: is not translated"
            continue
        for what, shape in (("", PLACE), ("the number ", NUMBER)):
            left, right = (Counter(shape.findall(t if shape is PLACE else PLACE.sub(" ", t))) for t in (one, other))
            if shape is NUMBER:
                left, right = (Counter({re.sub(r"[.,]", "", n): c for n, c in side.items()}) for side in (left, right))
            for lost in left - right:
                yield f"{key}: {what}{lost} is lost"
            for new in right - left:
                yield f"{key}: {what}{new} was not there"
        if one == other and len(re.findall(r"[^\W\d_]{3,}", PLACE.sub(" ", one))) > 1:
            yield f"{key}: is the same as the source"
        if (one[:1].isspace(), one[-1:].isspace()) != (other[:1].isspace(), other[-1:].isspace()):
            yield f"{key}: white space at an end is lost or new"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        source, target = read(sys.argv[1], False), read(sys.argv[2], True)
    except (OSError, ValueError) as error:
        sys.exit(f"check_strings: {error}")
    found = list(problems(source, target))
    print("\n".join([*found, f"{len(source)} texts, {len(found)} problems"]))
    sys.exit(1 if found else 0)

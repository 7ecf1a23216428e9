"""Nested JSON as CSV.   flatten.py shape IN.json     flatten.py rows IN.json OUT.csv [--at PATH] [--explode COLUMN] [--nulls]"""

import argparse
import csv
import json
import sys


def load(path):
    with open(path, encoding="utf-8-sig") as file:
        text = file.read()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError:
            sys.exit(f"flatten: {path} is no JSON: {error}")


def shape(value, path, found):
    kind = {dict: "object", list: "list", str: "text", bool: "true/false", type(None): "null"}.get(
        type(value), "number"
    )
    row = found.setdefault(path or ".", [0, {}])
    row[0] += 1
    row[1][kind] = None
    inner = (
        value.items() if isinstance(value, dict) else (("[]", one) for one in value) if isinstance(value, list) else ()
    )
    for key, one in inner:
        shape(one, f"{path}{key}" if key == "[]" else f"{path}.{key}" if path else key, found)


def flat(value, nulls, start=""):
    made = {}
    for key, one in value.items():
        name = f"{start}{key}"
        if isinstance(one, dict):
            made.update(flat(one, nulls, f"{name}.") or {name: "{}"})
        elif isinstance(one, list):
            made[name] = one
        else:
            made[name] = ("null" if nulls else "") if one is None else json.dumps(one) if isinstance(one, bool) else one
    return made


def rows(given):
    data = load(given.source)
    for key in filter(None, given.at.split(".")):
        try:
            data = data[key] if isinstance(data, dict) else data[int(key)]
        except (KeyError, ValueError, IndexError, TypeError):
            sys.exit(f"flatten: there is no {key!r} on the way {given.at!r}")
    data = data if isinstance(data, list) else [data]
    made = []
    for one in data:
        row = flat(one if isinstance(one, dict) else {"value": one}, given.nulls)
        entries = row.get(given.explode) if given.explode else None
        if isinstance(entries, list) and entries:
            rest = {k: v for k, v in row.items() if k != given.explode}
            for entry in entries:
                inner = (
                    flat(entry, given.nulls, f"{given.explode}.") if isinstance(entry, dict) else {given.explode: entry}
                )
                made.append({**rest, **inner})
        else:
            made.append(row)
    columns = list(dict.fromkeys(key for row in made for key in row))
    with open(given.target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in made:
            cells = (row.get(c, "") for c in columns)
            writer.writerow([json.dumps(c, ensure_ascii=False) if isinstance(c, list) else c for c in cells])
    print(f"{len(made)} rows of {len(data)} entries, {len(columns)} columns")


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("what", choices=("shape", "rows"))
    words.add_argument("source")
    words.add_argument("target", nargs="?")
    words.add_argument("--at", default="")
    words.add_argument("--explode", default="")
    words.add_argument("--nulls", action="store_true")
    given = words.parse_args()
    try:
        if given.what == "shape":
            found = {}
            shape(load(given.source), "", found)
            print("\n".join(f"{path}: {count} x {', '.join(kinds)}" for path, (count, kinds) in found.items()))
        elif given.target:
            rows(given)
        else:
            words.error("say a file to write")
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        sys.exit(f"flatten: {error}")

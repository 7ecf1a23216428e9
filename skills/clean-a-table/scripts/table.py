"""Look at a CSV file, or clean it. Standard library only.

table.py profile IN.csv
table.py clean IN.csv OUT.csv [--dates dmy|mdy]
"""

import argparse
import csv
import datetime
import io
import re
import sys

WHOLE = re.compile(r"[+-]?\d{1,18}")
POINT = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)\.\d+")
COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+")
DAY = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")
ISO = re.compile(r"\d{4}-\d\d-\d\d")


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    for encoding in (
        ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252", "latin-1")
    ):
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    lines = [line for line in text.splitlines() if line.strip()][:200]
    separator = max(
        ",;\t|",
        key=lambda s: (min((line.count(s) for line in lines), default=0), sum(line.count(s) for line in lines)),
    )
    rows = [[c.strip() for c in row] for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator)]
    rows = [row for row in rows if any(row)]
    return encoding.replace("utf-8-sig", "utf-8"), separator, rows[0] if rows else [], rows[1:]


def kind_of(values):
    there = [v for v in values if v]
    for name, shape in (
        ("whole numbers", WHOLE),
        ("ISO dates", ISO),
        ("decimal points", POINT),
        ("decimal commas", COMMA),
        ("dates", DAY),
    ):
        if there and all(shape.fullmatch(v) or (name.startswith("decimal") and WHOLE.fullmatch(v)) for v in there):
            return name if name != "dates" else f"dates, {order(there) or 'of unclear order'}"
    return "text"


def order(values):
    """dmy or mdy, where a day above twelve says so; empty where nothing does."""
    found = [DAY.fullmatch(v) for v in values]
    first, second = (any(m and int(m[n]) > 12 for m in found) for n in (1, 3))
    return "dmy" if first and not second else "mdy" if second and not first else ""


def profile(path):
    encoding, separator, head, rows = read(path)
    odd = [n for n, row in enumerate(rows, 2) if len(row) != len(head)]
    print(f"{encoding}, separator {separator!r}, {len(rows)} rows, {len(rows) - len(set(map(tuple, rows)))} twice")
    if odd:
        print(f"rows with another number of fields than {len(head)}: {', '.join(map(str, odd[:20]))}")
    for n, name in enumerate(head):
        values = [row[n] if n < len(row) else "" for row in rows]
        print(
            f"  {name}: {kind_of(values)}; {values.count('')} empty, {len(set(values) - {''})} differ; e.g. {next(filter(None, values), '')[:40]}"
        )


def cleaned(value, kind, dates):
    """A value in its plain form, or None where it cannot be read as what its column holds."""
    if not value or kind in ("text", "ISO dates"):
        return value
    if kind == "whole numbers":
        return value if len(value.lstrip("+-")) > 1 and value.lstrip("+-")[0] == "0" else str(int(value))
    if kind == "decimal points":
        return value.replace(",", "")
    if kind == "decimal commas":
        return value.replace(".", "").replace(",", ".")
    found = DAY.fullmatch(value)
    if not found or not dates:
        return None
    day, month = (found[1], found[3]) if dates == "dmy" else (found[3], found[1])
    try:
        return datetime.date(int(found[4]), int(month), int(day)).isoformat()
    except ValueError:
        return None


def clean(path, target, dates):
    _, _, head, rows = read(path)
    wide, left, once = len(head), 0, {}
    columns = [[row[n] if n < len(row) else "" for row in rows] for n in range(wide)]
    kinds = [kind_of(column) for column in columns]
    for row in rows:
        made = []
        for n in range(wide):
            value = row[n] if n < len(row) else ""
            kind = kinds[n].split(",")[0]
            new = cleaned(value, kind, dates or order([v for v in columns[n] if v]))
            left += new is None
            made.append(value if new is None else new)
        once.setdefault((*made, *row[wide:]), None)
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(once)
    print(f"{len(once)} rows written, {len(rows) - len(once)} were there twice, {left} values left as they were")


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=("profile", "clean"))
    words.add_argument("source")
    words.add_argument("target", nargs="?")
    words.add_argument("--dates", choices=("dmy", "mdy"), default="")
    given = words.parse_args()
    try:
        if given.what == "profile":
            profile(given.source)
        elif given.target and given.target != given.source:
            clean(given.source, given.target, given.dates)
        else:
            words.error("say another file to write")
    except OSError as error:
        sys.exit(f"table: {error}")

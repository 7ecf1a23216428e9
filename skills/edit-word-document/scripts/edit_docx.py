"""Replace words in a .docx and leave everything else as it is. Standard library only.

edit_docx.py IN.docx --list
edit_docx.py IN.docx OUT.docx --replace "OLD=>NEW" [--replace ...]
edit_docx.py TEMPLATE.docx FOLDER --merge ROWS.csv
"""

import argparse
import csv
import io
import os
import re
import sys
import zipfile
from xml.etree import ElementTree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
PART = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml")
SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def parts(archive):
    return [name for name in archive.namelist() if PART.fullmatch(name)]


def parsed(data):
    """The tree of a part; its prefixes stay those that Word wrote."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        sys.exit("edit_docx: it declares entities, as no document of Word does; it is not read")
    for _, (prefix, address) in ElementTree.iterparse(io.BytesIO(data), events=("start-ns",)):
        if not re.fullmatch(r"ns\d+", prefix):
            ElementTree.register_namespace(prefix, address)
    return ElementTree.fromstring(data)


def replace(paragraph, old, new):
    """Put new words where the old ones began, and take the old ones out of all the pieces that they lie in."""
    count = 0
    start = 0
    while True:
        texts = list(paragraph.iter(f"{W}t"))
        whole = "".join(t.text or "" for t in texts)
        at = whole.find(old, start)
        if at < 0:
            return count
        end, place, first = at + len(old), 0, True
        for text in texts:
            own = text.text or ""
            low, high = max(at - place, 0), min(end - place, len(own))
            if low < high or (first and low == high == 0 and place == at and own):
                text.text = own[:low] + (new if first else "") + own[high:]
                text.set(SPACE, "preserve")
                first = False
            place += len(own)
        count += 1
        start = at + len(new)


def changed(source, pairs):
    """The bytes of the document with all pairs replaced, and how often each was."""
    counts = dict.fromkeys([old for old, _ in pairs], 0)
    out = io.BytesIO()
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        names = parts(archive)
        for info in archive.infolist():
            data = archive.read(info)
            if info.filename in names:
                tree = parsed(data)
                for paragraph in tree.iter(f"{W}p"):
                    for old, new in pairs:
                        counts[old] += replace(paragraph, old, new)
                data = ElementTree.tostring(tree, encoding="UTF-8", xml_declaration=True)
            made.writestr(info, data)
    return out.getvalue(), counts


def lines(source):
    with zipfile.ZipFile(source) as archive:
        for name in parts(archive):
            for paragraph in parsed(archive.read(name)).iter(f"{W}p"):
                text = "".join(t.text or "" for t in paragraph.iter(f"{W}t"))
                if text.strip():
                    yield f"{name[5:-4]}: {text}"


def merge(source, folder, rows):
    with open(rows, encoding="utf-8-sig", newline="") as file:
        table = list(csv.DictReader(file))
    fields = set(re.findall(r"\{\{\s*([^{}]+?)\s*\}\}", "\n".join(lines(source))))
    if missing := fields - set(table[0] if table else ()):
        sys.exit(f"edit_docx: {rows} has no column {', '.join(sorted(missing))}; nothing was written")
    os.makedirs(folder, exist_ok=True)
    for number, row in enumerate(table, 1):
        data, _ = changed(source, [(f"{{{{{field}}}}}", row[field] or "") for field in fields])
        path = os.path.join(folder, f"{number:03}.docx")
        with open(path, "wb") as file:
            file.write(data)
        print(path)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("source")
    words.add_argument("target", nargs="?")
    words.add_argument("--list", action="store_true")
    words.add_argument("--replace", action="append", default=[], metavar="OLD=>NEW")
    words.add_argument("--merge", metavar="ROWS.csv")
    given = words.parse_args()
    try:
        if given.list:
            print("\n".join(lines(given.source)))
        elif given.target and given.merge:
            merge(given.source, given.target, given.merge)
        elif given.target and given.replace and os.path.abspath(given.source) != os.path.abspath(given.target):
            pairs = [tuple(one.split("=>", 1)) for one in given.replace if "=>" in one]
            data, counts = changed(given.source, pairs)
            if gone := [old for old, count in counts.items() if not count]:
                sys.exit(f"edit_docx: not found: {', '.join(map(repr, gone))}; nothing was written")
            with open(given.target, "wb") as file:
                file.write(data)
            print("\n".join(f"{count} x {old}" for old, count in counts.items()))
        else:
            words.error("say --list, or another file and --replace, or a folder and --merge")
    except (OSError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        sys.exit(f"edit_docx: {error}")

"""The text of an office file on standard output. Standard library only.   office_text.py FILE"""

import datetime
import re
import sys
import zipfile
from xml.etree import ElementTree

DATES = {14, 15, 16, 17, 22, 45, 46, 47}  # number formats of dates that have no text of their own


def parsed(data):
    """The tree of a part. Office files have no document type; one that has is made to do harm."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        sys.exit("office_text: it declares entities, as no office file does; it is not read")
    return ElementTree.fromstring(data)


def local(element):
    return element.tag.rpartition("}")[2]


def attribute(element, name):
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def text_of(element):
    made = []
    for one in element.iter():
        name = local(one)
        if name == "t":
            made.append(one.text or "")
        elif name in ("tab", "br"):
            made.append("\t" if name == "tab" else "\n")
    return "".join(made)


def word(archive):
    body = parsed(archive.read("word/document.xml"))
    for block in next(e for e in body.iter() if local(e) == "body"):
        if local(block) == "p":
            style = next((attribute(e, "val") for e in block.iter() if local(e) == "pStyle"), "")
            level = re.fullmatch(r"[Hh]eading\s?(\d)", style)
            said = text_of(block)
            if said.strip():
                yield ("#" * int(level[1]) + " " if level else "") + said
        elif local(block) == "tbl":
            for row in (e for e in block.iter() if local(e) == "tr"):
                yield "| " + " | ".join(text_of(c).strip() for c in row if local(c) == "tc") + " |"


def dated(number):
    day = datetime.datetime(1899, 12, 30) + datetime.timedelta(days=number)
    return day.isoformat(" ") if number % 1 else day.date().isoformat()


def sheets(archive):
    shared = []
    if "xl/sharedStrings.xml" in archive.namelist():
        shared = [text_of(e) for e in parsed(archive.read("xl/sharedStrings.xml")) if local(e) == "si"]
    formats, own = [], {}
    if "xl/styles.xml" in archive.namelist():
        styles = parsed(archive.read("xl/styles.xml"))
        own = {attribute(e, "numFmtId"): attribute(e, "formatCode") for e in styles.iter() if local(e) == "numFmt"}
        cells = next((e for e in styles.iter() if local(e) == "cellXfs"), [])
        formats = [attribute(e, "numFmtId") for e in cells]
    rels = {attribute(e, "Id"): attribute(e, "Target") for e in parsed(archive.read("xl/_rels/workbook.xml.rels"))}
    for sheet in (e for e in parsed(archive.read("xl/workbook.xml")).iter() if local(e) == "sheet"):
        hidden = " (hidden)" if sheet.get("state") in ("hidden", "veryHidden") else ""
        yield f"# {sheet.get('name')}{hidden}"
        path = rels[attribute(sheet, "id")].lstrip("/")
        tree = parsed(archive.read(path if path.startswith("xl/") else f"xl/{path}"))
        for row in (e for e in tree.iter() if local(e) == "row"):
            found = {}
            for cell in row:
                column = re.match(r"[A-Z]+", cell.get("r", "A"))[0]
                at = 0
                for letter in column:
                    at = at * 26 + ord(letter) - 64
                value = next((e.text or "" for e in cell if local(e) == "v"), "")
                kind = cell.get("t", "")
                if kind == "s":
                    value = shared[int(value)]
                elif kind == "inlineStr":
                    value = text_of(cell)
                elif value and kind in ("", "n"):
                    code = formats[int(cell.get("s", "0"))] if formats else "0"
                    custom = re.sub(r'"[^"]*"|\[[^\]]*\]', "", own.get(code, ""))
                    if int(code or 0) in DATES or re.search(r"[dy]", custom):
                        value = dated(float(value))
                found[at] = value
            yield "\t".join(found.get(n, "") for n in range(1, max(found, default=0) + 1))
        yield ""


def slides(archive):
    numbers = sorted(
        int(m[1]) for m in (re.fullmatch(r"ppt/slides/slide(\d+)\.xml", n) for n in archive.namelist()) if m
    )
    for number in numbers:
        yield f"# Slide {number}"
        for kind, where in (
            ("", f"ppt/slides/slide{number}.xml"),
            ("Notes: ", f"ppt/notesSlides/notesSlide{number}.xml"),
        ):
            if where in archive.namelist():
                for paragraph in (e for e in parsed(archive.read(where)).iter() if local(e) == "p"):
                    said = text_of(paragraph).strip()
                    if said and not (kind and said.isdigit()):
                        yield kind + said
        yield ""


def main(path):
    with open(path, "rb") as file:
        start = file.read(8)
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        sys.exit("office_text: an old .doc/.xls/.ppt, or a file with a password: neither can be read here")
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        if "word/document.xml" in names:
            found = word(archive)
        elif "xl/workbook.xml" in names:
            found = sheets(archive)
        elif "ppt/presentation.xml" in names:
            found = slides(archive)
        elif "content.xml" in names:
            tree = parsed(archive.read("content.xml"))
            rows = [c for c in tree.iter() if local(c) == "table-cell"]
            inside = {id(p) for c in rows for p in c.iter()}
            found = opendocument(tree, inside)
        else:
            sys.exit("office_text: no office file that is known here")
        for line in found:
            print(line)


def opendocument(tree, inside):
    for block in tree.iter():
        name = local(block)
        plain = "".join(block.itertext()).strip()
        if name == "h" and plain:
            yield f"{'#' * int(attribute(block, 'outline-level') or 1)} {plain}"
        elif name == "table":
            yield f"# {attribute(block, 'name')}"
        elif name == "table-row":
            row = []
            for cell in block:
                said = "".join(cell.itertext())
                row += [said] * (int(attribute(cell, "number-columns-repeated") or 1) if said else 1)
            if any(row):
                yield "\t".join(row).rstrip("\t")
        elif name == "p" and plain and id(block) not in inside:
            yield plain


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except (OSError, zipfile.BadZipFile, ElementTree.ParseError, KeyError) as error:
        sys.exit(f"office_text: {sys.argv[1]} cannot be read: {error}")

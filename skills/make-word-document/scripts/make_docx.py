"""Make a .docx from Markdown, with real headings, lists and tables. Standard library only.

make_docx.py IN.md OUT.docx [--paper a4|letter]
make_docx.py --check FILE.docx
"""

import argparse
import re
import sys
import zipfile
from xml.etree import ElementTree
from xml.sax.saxutils import escape

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PAPERS = {"a4": (11906, 16838), "letter": (12240, 15840)}
TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
<Override PartName="/word/styles.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>
<Override PartName="/word/numbering.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml"/>
</Types>"""
RELS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Target="word/document.xml"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>
</Relationships>"""
DOCUMENT_RELS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Target="styles.xml"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles"/>
<Relationship Id="rId2" Target="numbering.xml"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering"/>
</Relationships>"""
STYLE = (
    '<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/><w:basedOn w:val="Normal"/>'
    '<w:next w:val="Normal"/><w:qFormat/><w:pPr><w:keepNext/><w:spacing w:before="{before}" w:after="80"/>'
    '<w:outlineLvl w:val="{level}"/></w:pPr><w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
)


def styles():
    heads = "".join(STYLE.format(n=n, level=n - 1, before=400 - 80 * n, size=44 - 6 * n) for n in (1, 2, 3))
    return (
        f'<w:styles xmlns:w="{W}"><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri"/>'
        '<w:sz w:val="22"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="264" '
        'w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults><w:style w:type="paragraph" w:default="1" '
        f'w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>{heads}</w:styles>'
    )


def numbering(numbered):
    """Bullets are list 1; each numbered list is one of its own, so that it begins at 1."""
    level = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/><w:pPr><w:ind w:left="540" w:hanging="360"/></w:pPr></w:lvl>'
    kinds = (("1", "bullet", "•"), ("2", "decimal", "%1."))
    made = "".join(
        f'<w:abstractNum w:abstractNumId="{n}">{level.format(kind=kind, text=text)}</w:abstractNum>'
        for n, kind, text in kinds
    )
    made += '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
    for number in range(2, numbered + 2):
        again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
        made += f'<w:num w:numId="{number}"><w:abstractNumId w:val="2"/>{again}</w:num>'
    return f'<w:numbering xmlns:w="{W}">{made}</w:numbering>'


def runs(text):
    made = []
    for piece in re.split(r"(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)", text):
        if not piece:
            continue
        look = ""
        if piece.startswith("**") and piece.endswith("**") and len(piece) > 4:
            piece, look = piece[2:-2], "<w:b/>"
        elif piece[0] == piece[-1] == "*" and len(piece) > 2:
            piece, look = piece[1:-1], "<w:i/>"
        elif piece[0] == piece[-1] == "`" and len(piece) > 2:
            piece, look = piece[1:-1], '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/>'
        made.append(f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{escape(piece)}</w:t></w:r>')
    return "".join(made)


def paragraph(text, about=""):
    return f"<w:p><w:pPr>{about}</w:pPr>{runs(text)}</w:p>"


def table(rows):
    wide = max(map(len, rows))
    edges = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:color="999999"/>'
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    made = f'<w:tbl><w:tblPr><w:tblW w:w="5000" w:type="pct"/><w:tblBorders>{edges}</w:tblBorders></w:tblPr><w:tblGrid>{"<w:gridCol/>" * wide}</w:tblGrid>'
    for number, row in enumerate(rows):
        head = "<w:trPr><w:tblHeader/></w:trPr>" if number == 0 else ""
        cells = [*row, *[""] * (wide - len(row))]
        bold = [f"**{c}**" if number == 0 and c and "*" not in c else c for c in cells]
        made += f"<w:tr>{head}{''.join(f'<w:tc>{paragraph(c)}</w:tc>' for c in bold)}</w:tr>"
    return made + "</w:tbl>" + paragraph("")


def body(text):
    made, pending, rows, lists, numbered = [], [], [], 0, False

    def flush():
        nonlocal rows
        if pending:
            made.append(paragraph(" ".join(pending)))
            pending.clear()
        if rows:
            made.append(table(rows))
            rows = []

    for line in [*text.splitlines(), ""]:
        plain = line.strip()
        if plain.startswith("|") and plain.endswith("|") and len(plain) > 1:
            if not rows:
                flush()
            if not re.fullmatch(r"[|\s:-]+", plain):
                rows.append([cell.strip() for cell in plain[1:-1].split("|")])
            continue
        head = re.match(r"(#{1,3})\s+(.*)", plain)
        item = re.match(r"(?:([-*])|(\d+)[.)])\s+(.*)", plain)
        if head or item or not plain:
            flush()
        if head:
            made.append(paragraph(head[2], f'<w:pStyle w:val="Heading{len(head[1])}"/>'))
        elif item:
            if item[2] and not numbered:
                lists += 1
            number = 1 if item[1] else lists + 1
            made.append(paragraph(item[3], f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr>'))
        elif plain:
            pending.append(plain)
        numbered = bool(item and item[2]) or (numbered and not plain)
    return "".join(made), lists


def make(source, target, paper):
    with open(source, encoding="utf-8") as file:
        content, lists = body(file.read())
    wide, high = PAPERS[paper]
    page = f'<w:sectPr><w:pgSz w:w="{wide}" w:h="{high}"/><w:pgMar w:top="1417" w:right="1417" w:bottom="1134" w:left="1417"/></w:sectPr>'
    document = f'<w:document xmlns:w="{W}"><w:body>{content}{page}</w:body></w:document>'
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELS)
        archive.writestr("word/_rels/document.xml.rels", DOCUMENT_RELS)
        archive.writestr("word/styles.xml", head + styles())
        archive.writestr("word/numbering.xml", head + numbering(lists))
        archive.writestr("word/document.xml", head + document)


def check(target):
    with zipfile.ZipFile(target) as archive:
        tree = ElementTree.fromstring(archive.read("word/document.xml"))
    name = f"{{{W}}}"
    found = {"headings": 0, "paragraphs": 0, "tables": len(tree.findall(f".//{name}tbl"))}
    for one in tree.findall(f".//{name}body/{name}p"):
        text = "".join(t.text or "" for t in one.iter(f"{name}t"))
        style = one.find(f"{name}pPr/{name}pStyle")
        if style is not None and style.get(f"{name}val", "").startswith("Heading"):
            found["headings"] += 1
            print(f"{style.get(f'{name}val')}: {text}")
        elif text:
            found["paragraphs"] += 1
    print(", ".join(f"{count} {what}" for what, count in found.items()))


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("source", nargs="?")
    words.add_argument("target")
    words.add_argument("--paper", choices=PAPERS, default="a4")
    words.add_argument("--check", action="store_true")
    given = words.parse_args()
    try:
        if not given.check:
            if not given.source:
                words.error("say IN.md and OUT.docx")
            make(given.source, given.target, given.paper)
        check(given.target)
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        sys.exit(f"make_docx: {error}")

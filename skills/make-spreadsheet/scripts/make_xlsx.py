"""Make an .xlsx from CSV files, one sheet each. Standard library only.   make_xlsx.py OUT.xlsx A.csv [B.csv] [--text COLUMN]"""

import argparse
import csv
import datetime
import os
import re
import sys
import zipfile
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
STYLES = (
    f'{HEAD}<styleSheet xmlns="{MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>'
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf xfId="0"/>'
    '<xf xfId="0" fontId="1" applyFont="1"/><xf xfId="0" numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>'
)
NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?")


def is_date(value):
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value)) and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


def kind_of(values):
    """Of a column: number, date or text; empty cells and formulas do not count."""
    there = [v for v in values if v and not v.startswith("=")]
    if there and all(NUMBER.fullmatch(v) for v in there):
        return "number"
    return "date" if there and all(map(is_date, there)) else "text"


def letters(number):
    made = ""
    while number:
        number, rest = divmod(number - 1, 26)
        made = chr(65 + rest) + made
    return made


def cell(place, value, kind):
    if not value:
        return ""
    if value.startswith("="):
        return f'<c r="{place}"><f>{escape(value[1:])}</f></c>'
    if kind == "number":
        return f'<c r="{place}"><v>{value}</v></c>'
    if kind == "date":
        return (
            f'<c r="{place}" s="2"><v>{(datetime.date.fromisoformat(value) - datetime.date(1899, 12, 30)).days}</v></c>'
        )
    style = ' s="1"' if kind == "head" else ""
    return f'<c r="{place}" t="inlineStr"{style}><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def sheet(rows, text):
    wide = max(map(len, rows))
    rows = [[*row, *[""] * (wide - len(row))] for row in rows]
    kinds = ["text" if rows[0][n] in text else kind_of([row[n].strip() for row in rows[1:]]) for n in range(wide)]
    columns = "".join(
        f'<col min="{n + 1}" max="{n + 1}" width="{min(60, max(len(row[n]) for row in rows) + 2)}" customWidth="1"/>'
        for n in range(wide)
    )
    made = ""
    for number, row in enumerate(rows, 1):
        cells = "".join(
            cell(f"{letters(n + 1)}{number}", value.strip(), "head" if number == 1 else kinds[n])
            for n, value in enumerate(row)
        )
        made += f'<row r="{number}">{cells}</row>'
    view = '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews>'
    xml = f'{HEAD}<worksheet xmlns="{MAIN}">{view}<cols>{columns}</cols><sheetData>{made}</sheetData></worksheet>'
    return xml, dict(zip(rows[0], kinds))


def main(target, sources, text):
    sheets, names = [], []
    for source in sources:
        with open(source, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
        if not rows:
            sys.exit(f"make_xlsx: {source} is empty")
        xml, kinds = sheet(rows, text)
        sheets.append(xml)
        names.append(re.sub(r"[\[\]:*?/\\]", " ", os.path.splitext(os.path.basename(source))[0])[:31])
        print(f"{names[-1]}: {len(rows) - 1} rows; " + ", ".join(f"{k} {v}" for k, v in kinds.items()))
    one = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{one}.worksheet+xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    listed = "".join(f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(names, 1))
    rels = "".join(
        f'<Relationship Id="rId{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    rels += f'<Relationship Id="rId{len(sheets) + 1}" Type="{OFFICE}/styles" Target="styles.xml"/>'
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'{HEAD}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{one}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="{one}.styles+xml"/>{types}</Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets><calcPr fullCalcOnLoad="1"/></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels", f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">{rels}</Relationships>'
        )
        archive.writestr("xl/styles.xml", STYLES)
        for number, xml in enumerate(sheets, 1):
            archive.writestr(f"xl/worksheets/sheet{number}.xml", xml)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("target")
    words.add_argument("sources", nargs="+")
    words.add_argument("--text", action="append", default=[], metavar="COLUMN")
    given = words.parse_args()
    try:
        main(given.target, given.sources, given.text)
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"make_xlsx: {error}")

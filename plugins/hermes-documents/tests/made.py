"""Documents as other programs write them, made here so that no test depends on a file nobody can read."""

import io
import zipfile

from pptx import Presentation
from pptx.util import Inches
from xlsxwriter import Workbook

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_KIND = "application/vnd.openxmlformats-"
_RELATED = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(files: dict[str, str | bytes], *, stored: tuple[str, ...] = ()) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            kind = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, kind)
    return out.getvalue()


def docx(body: str) -> bytes:
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="rels" ContentType="{_KIND}package.'
            f'relationships+xml"/><Override PartName="/word/document.xml" ContentType="{_KIND}officedocument.'
            'wordprocessingml.document.main+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{_RELATED}"><Relationship Id="r1" Type="{_OFFICE}/officeDocument" '
            'Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{_RELATED}"><Relationship Id="r1" '
            f'Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
            "word/styles.xml": f'<w:styles {_W}><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/>'
            "</w:style></w:styles>",
            "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
        }
    )


def paragraph(text: str, style: str = "") -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r><w:t>{text}</w:t></w:r></w:p>"


def word_table(rows: list[list[str]]) -> str:
    cells = ["".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows]
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def xlsx(sheets: dict[str, list[list[object]]]) -> bytes:
    out = io.BytesIO()
    with Workbook(out, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return out.getvalue()


def pptx() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Plans for spring"
    frame = slide.placeholders[1].text_frame
    frame.text = "Sow"
    frame.add_paragraph().text = "Water"
    slide.notes_slide.notes_text_frame.text = "Speak slowly."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    cells = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row, values in enumerate([("Bed", "Area"), ("North", "12")]):
        for column, value in enumerate(values):
            cells.cell(row, column).text = value
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def pdf(pages: list[str]) -> bytes:
    """A PDF whose pages have these content streams; the font is /F."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for content in pages:
        at = len(objects) + 1
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {at + 1} 0 R "
            "/Resources << /Font << /F 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return f"{out}xref\n0 {size}\n0000000000 65535 f \n{rows}{end}".encode("latin-1")


def at(x: int, y: int, text: str) -> str:
    return f"BT /F 12 Tf {x} {y} Td ({text}) Tj ET\n"


def ruled(rows: list[list[str]], top: int) -> str:
    """A table with lines, 100 points a column."""
    content = ""
    bottom, right = top - 20 * len(rows), 72 + 100 * len(rows[0])
    for number in range(len(rows) + 1):
        content += f"72 {top - 20 * number} m {right} {top - 20 * number} l S\n"
    for number in range(len(rows[0]) + 1):
        content += f"{72 + 100 * number} {top} m {72 + 100 * number} {bottom} l S\n"
    for down, row in enumerate(rows):
        for across, text in enumerate(row):
            content += at(76 + 100 * across, top - 15 - 20 * down, text)
    return content


_O = "urn:oasis:names:tc:opendocument:xmlns"


def odt(body: str) -> bytes:
    content = (
        f'<office:document-content xmlns:office="{_O}:office:1.0" xmlns:text="{_O}:text:1.0" '
        f'xmlns:table="{_O}:table:1.0" xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.text"
    return zipped({"mimetype": kind, "content.xml": content}, stored=("mimetype",))


def epub(chapters: dict[str, str]) -> bytes:
    items = "".join(f'<item id="{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>A year of bees</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine>"
        "</package>",
    }
    pages = {f"OEBPS/{name}.xhtml": f"<html><body>{text}</body></html>" for name, text in chapters.items()}
    return zipped(files | pages, stored=("mimetype",))

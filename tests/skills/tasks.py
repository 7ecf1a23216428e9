"""A task for each skill that ships: what is there, the steps that its text gives, and a check of what came of it."""

# ruff: noqa: E501 - commands are lines of a shell

import csv
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from .worker import SHIPPED, Step, Task

PY = r"python3 \S+"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def put(**files: str) -> Callable[[Path], None]:
    """A maker of files; ``__`` in a name stands for a dot."""

    def make(folder: Path) -> None:
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")

    return make


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True, env=environ)
    return done.stdout.strip()


def repository(folder: Path) -> None:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")


def commit(folder: Path, message: str, **files: str) -> str:
    put(**files)(folder)
    git(folder, "add", *(name.replace("__", ".") for name in files))
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def table(folder: Path, name: str) -> list[list[str]]:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


# --- office -------------------------------------------------------------------------------------------------------

REPORT = (
    "# Report\n\nSales **rose** & fell.\n\n## Numbers\n\n1. one\n2. two\n\n| Town | Sales |\n|---|---|\n| Oslo | 12 |\n"
)


def word_is_made(folder: Path) -> None:
    import mammoth

    with (folder / "report.docx").open("rb") as file:
        html = mammoth.convert_to_html(file).value
    assert "<h1>Report</h1>" in html
    assert "<h2>Numbers</h2>" in html
    assert "Sales <strong>rose</strong> &amp; fell." in html
    assert "<ol><li>one</li><li>two</li></ol>" in html
    assert html.count("<table>") == 1
    assert "1 tables" in read(folder, "read-back.txt")


def split_document(folder: Path) -> None:
    """A document as Word writes it: one sentence in many pieces, with a style and a header."""
    runs = "".join(
        f'<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">{piece}</w:t></w:r>'
        for piece in ("Dear ", "{{na", "me}}", ", pay 1", "00 euro.")
    )
    with zipfile.ZipFile(folder / "letter.docx", "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/document.xml", f'<w:document xmlns:w="{WORD}"><w:body><w:p>{runs}</w:p></w:body></w:document>'
        )
        archive.writestr(
            "word/header1.xml", f'<w:hdr xmlns:w="{WORD}"><w:p><w:r><w:t>100 euro</w:t></w:r></w:p></w:hdr>'
        )
    put(people__csv="name\nAnn\nKim & Sons\n")(folder)


def words_of(path: Path, part: str = "word/document.xml") -> tuple[str, int]:
    with zipfile.ZipFile(path) as archive:
        tree = ElementTree.fromstring(archive.read(part))
    return "".join(t.text or "" for t in tree.iter(f"{{{WORD}}}t")), len(list(tree.iter(f"{{{WORD}}}b")))


def words_are_changed(folder: Path) -> None:
    assert words_of(folder / "new.docx") == ("Dear {{name}}, pay 250 euro.", 5)
    assert words_of(folder / "new.docx", "word/header1.xml")[0] == "250 euro"
    assert words_of(folder / "letter.docx")[0] == "Dear {{name}}, pay 100 euro."
    letters = sorted((folder / "letters").iterdir())
    assert [words_of(one)[0] for one in letters] == ["Dear Ann, pay 100 euro.", "Dear Kim & Sons, pay 100 euro."]


def a_workbook(folder: Path) -> None:
    script = SHIPPED / "make-spreadsheet" / "scripts" / "make_xlsx.py"
    put(Stock__csv="item,day,count\nNut,2026-03-01,12\nBolt,2026-03-02,7\n")(folder)
    subprocess.run(["python3", script, "book.xlsx", "Stock.csv"], cwd=folder, check=True, capture_output=True)
    (folder / "Stock.csv").unlink()


def workbook_is_read(folder: Path) -> None:
    assert "# Stock\nitem\tday\tcount\nNut\t2026-03-01\t12\nBolt\t2026-03-02\t7" in read(folder, "text.txt")


def spreadsheet_is_made(folder: Path) -> None:
    from python_calamine import CalamineWorkbook

    rows = CalamineWorkbook.from_path(str(folder / "out.xlsx")).get_sheet_by_name("Sales").to_python()
    assert [row[:3] for row in rows[:2]] == [["town", "code", "sales"], ["Oslo", "0150", 12.5]]
    with zipfile.ZipFile(folder / "out.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>SUM(C2:C3)</f>" in sheet
    assert 'state="frozen"' in sheet


def invitation_is_made(folder: Path) -> None:
    text = (folder / "out.ics").read_bytes()
    assert b"\r\nDTSTART:20260701T060000Z\r\n" in text, "15:00 in Seoul"
    assert b"\r\nDTEND:20260701T064500Z\r\n" in text
    assert all(len(line) <= 75 for line in text.split(b"\r\n"))
    assert "Wednesday" in read(folder, "said.txt")


# --- git ----------------------------------------------------------------------------------------------------------


def a_change(folder: Path) -> None:
    repository(folder)
    commit(folder, "Begin", a__txt="one\n")
    put(
        a__txt="two\n",
        scratch__txt="mine\n",
        message__txt='Say two where `one` was meant\n\nA $reader was told "one".\n',
    )(folder)
    git(folder, "add", "a.txt")


def commit_says_why(folder: Path) -> None:
    subject, _, why = git(folder, "log", "-1", "--format=%B").partition("\n\n")
    assert subject == "Say two where `one` was meant"
    assert why == 'A $reader was told "one".'
    assert git(folder, "show", "--name-only", "--format=", "HEAD") == "a.txt"


def a_fault_among_many(folder: Path) -> None:
    repository(folder)
    for number in range(20):
        total = "a + b" if number < 13 else "a - b"
        hash_ = commit(folder, f"Change {number}", add__py=f"# {number}\ndef add(a, b):\n    return {total}\n")
        if number == 13:
            put(__expected=f"{hash_}\n")(folder)
    (folder / ".git" / "info" / "exclude").write_text("*\n")
    put(judge__sh="python3 -B -c 'import add, sys; sys.exit(add.add(2, 2) != 4)'\n")(folder)


def culprit_is_named(folder: Path) -> None:
    assert read(folder, "answer.txt") == read(folder, ".expected")
    assert git(folder, "symbolic-ref", "--short", "HEAD") == "main"


def work_that_was_reset(folder: Path) -> None:
    repository(folder)
    commit(folder, "Begin", a__txt="one\n")
    commit(folder, "A week of work", b__txt="precious\n")
    git(folder, "reset", "-q", "--hard", "HEAD~1")


def work_is_rescued(folder: Path) -> None:
    assert git(folder, "show", "rescued:b.txt") == "precious"
    assert git(folder, "log", "-1", "--format=%s") == "Begin", "nothing that somebody else uses was moved"


def a_release_is_due(folder: Path) -> None:
    repository(folder)
    commit(folder, "Begin", a__txt="one\n")
    git(folder, "tag", "-a", "v1.0.0", "-m", "First")
    commit(folder, "Read two files", a__txt="two\n")
    commit(folder, "Close the file", a__txt="three\n")


def release_is_tagged(folder: Path) -> None:
    assert read(folder, "notes.md") == "- Read two files\n- Close the file\n"
    assert git(folder, "cat-file", "-t", "v1.1.0") == "tag"
    assert git(folder, "describe") == "v1.1.0"


KEY = "AKIA" + "QY7Z2MXPLW4RTN6D"  # of the shape of one, and nobody's


def a_leak_in_the_past(folder: Path) -> None:
    repository(folder)
    commit(folder, "Begin", config__ini=f"key = {KEY}\n")
    commit(folder, "Take it out", config__ini="key =\n")
    commit(folder, "Go on", a__txt="nothing\n")


def leak_is_found(folder: Path) -> None:
    report = read(folder, "report.txt")
    assert "AWS key: AKIA… (20 characters)" in report
    assert git(folder, "rev-list", "--max-parents=0", "HEAD")[:12] in report
    assert KEY not in report


# --- research -----------------------------------------------------------------------------------------------------


def a_contract_of_two_versions(folder: Path) -> None:
    clause = "The buyer may end this contract within 14 days. "
    put(
        old__txt=f"{'A clause of form. ' * 40}\n{clause}\nPaid within 30 days.\n",
        new__txt=f"{'A clause of form. ' * 40}\n{clause.replace('may', 'must')}\nPaid within 20 days.\n",
    )(folder)


def changes_are_all_there(folder: Path) -> None:
    changes = read(folder, "changes.txt")
    assert "[-may-]{+must+}" in changes
    assert "[-30-]{+20+}" in changes


def a_summary_that_invents(folder: Path) -> None:
    source = (
        "".join(f"Line {n} of the source.\n" for n in range(1, 60))
        + "Revenue was 4.1 million, down\nfrom 4.6 a year before.\n"
    )
    summary = (
        'It fell.\n> "was 4.1 million, down from 4.6" (line 60)\n\nIt will rise.\n> "we expect growth" (line 61)\n'
    )
    put(source__txt=source, summary__md=summary)(folder)


def invention_is_found(folder: Path) -> None:
    said = read(folder, "check.txt")
    assert "2: found in line 60" in said
    assert "5: missing: we expect growth" in said
    assert "1 of 2" in said


# --- data ---------------------------------------------------------------------------------------------------------


def a_messy_table(folder: Path) -> None:
    rows = "Name;Betrag;Tag;PLZ\nMüller ; 1.234,50;03.04.2026;01067\nKim;7,00;25.12.2026;10115\nKim;7,00;25.12.2026;10115\n"
    (folder / "in.csv").write_bytes(rows.encode("cp1252"))


def table_is_clean(folder: Path) -> None:
    assert table(folder, "out.csv") == [
        ["Name", "Betrag", "Tag", "PLZ"], ["Müller", "1234.50", "2026-04-03", "01067"],
        ["Kim", "7.00", "2026-12-25", "10115"],
    ]  # fmt: skip
    assert "separator ';'" in read(folder, "profile.txt")


def sales(folder: Path) -> None:
    rows = "".join(f"{'north' if n % 3 else 'south'},{n * 7 % 101}.25,0{n % 10}123\n" for n in range(500))
    put(sales__csv=f"region,amount,code\n{rows}")(folder)


def sum_is_right(folder: Path) -> None:
    rows = [row for row in table(folder, "sales.csv")[1:] if row[0] == "south"]
    assert table(folder, "result.csv")[1] == [str(len(rows)), str(sum(float(row[1]) for row in rows))]


def two_lists(folder: Path) -> None:
    put(
        bank__csv="invoice,amount,who\n0017,100.00,Ann\n18,20.50,Kim\n19,5,Lee\n20x,7.70,Poe\n",
        books__csv="no,amount,who\n17,100,ANN\n18,25.50,Kim\n2O,7.70,Poe\n21,3,Max\n",
    )(folder)


def lists_are_reconciled(folder: Path) -> None:
    report = read(folder, "report.txt")
    assert "differs 18: amount: 20.50 | 25.50" in report
    assert "perhaps the same: 20x and 2O" in report
    assert report.splitlines()[-1] == "1 agree, 1 differ, 2 only in bank.csv, 2 only in books.csv"


def chart_is_drawn(folder: Path) -> None:
    tree = ElementTree.parse(folder / "out.svg").getroot()
    bars = [r for r in tree.iter("{http://www.w3.org/2000/svg}rect") if r.get("class") == "bar"]
    heights = [float(r.get("height", 0)) for r in bars]
    assert len(bars) == 3
    assert abs(heights[1] / heights[0] - 1.02) < 0.01, "the axis begins at zero"


NESTED = {
    "data": {
        "items": [{"id": 1, "user": {"name": "Ann"}, "tags": ["a", "b"]}, {"id": 2, "user": {"name": "김"}, "ok": True}]
    }
}


def json_is_flat(folder: Path) -> None:
    assert table(folder, "out.csv") == [
        ["id", "user.name", "tags", "ok"], ["1", "Ann", '["a", "b"]', ""], ["2", "김", "", "true"],
    ]  # fmt: skip
    assert "data.items[].user.name: 2 x text" in read(folder, "shape.txt")


# --- ops ----------------------------------------------------------------------------------------------------------


def two_logs(folder: Path) -> None:
    def line(n: int, words: str) -> str:
        return f"2026-11-28T10:{n // 60 % 60:02}:{n % 60:02}Z {words}\n"

    good = "".join(line(n, f"INFO served {n * 3} bytes to 10.0.0.{n % 250}") for n in range(400))
    bad = (
        good
        + line(401, "WARN disk /data is 97% full")
        + "".join(line(n, f"ERROR cannot write order {n}") for n in range(402, 900))
    )
    put(good__log=good, bad__log=bad)(folder)


def cause_is_found(folder: Path) -> None:
    new = [line for line in read(folder, "new.txt").splitlines() if " x, lines " in line]
    assert new[0] == "1 x, lines 401 to 401: <time> WARN disk /data is <n>% full"
    assert new[1].startswith("498 x, lines 402 to 899: <time> ERROR cannot write order <n>")
    assert read(folder, "kinds.txt").startswith("498 x, ")


def a_folder_to_keep(folder: Path) -> None:
    (folder / "files" / "in here").mkdir(parents=True)
    (folder / "files" / "a.txt").write_text("one\n")
    (folder / "files" / "in here" / "-b.bin").write_bytes(bytes(range(256)) * 40)


def backup_is_proven(folder: Path) -> None:
    with tarfile.open(folder / "kept.tar.gz") as archive:
        inside = {
            m.name: hashlib.sha256(f.read()).hexdigest()
            for m in archive
            if m.isfile() and (f := archive.extractfile(m))
        }
    listed = dict(reversed(line.split("  ", 1)) for line in read(folder, "kept.sha256").splitlines())
    assert inside == listed
    assert len(listed) == 2
    assert read(folder, "kept.proven") == "proven\n"


def odd_names(folder: Path) -> None:
    (folder / "in").mkdir()
    for name, text in (("a b.txt", "1\n2\n"), ("-rf.txt", "3\n"), ("c.md", "no\n")):
        (folder / "in" / name).write_text(text)


def script_is_sound(folder: Path) -> None:
    assert read(folder, "count.txt").split() == ["3"]
    assert read(folder, "status.txt").strip() != "0", "it stops at a failure"
    assert "reached" not in read(folder, "after.txt")


def unit_is_closed(folder: Path) -> None:
    text = read(folder, "thing.service")
    said = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    assert said["ExecStart"].startswith("/usr/bin/thing")
    assert said["Restart"] == "on-failure"
    assert (said["NoNewPrivileges"], said["ProtectSystem"], said["ProtectHome"]) == ("yes", "strict", "yes")
    assert said["DynamicUser"] == "yes"
    assert "User=root" not in text


URL = "http://127.0.0.1:$(cat port)/hello.txt"
SERVER = """
import http.server, time
time.sleep(1.2)
address = ("127.0.0.1", int(open("port").read()))
http.server.HTTPServer(address, http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def a_slow_service(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    put(serve__py=SERVER, hello__txt="hello\n", port=str(port))(folder)


def service_was_tried(folder: Path) -> None:
    assert read(folder, "answer.txt") == "hello\n\n200\n"
    assert read(folder, "left.txt").strip() == "", "nothing is left running"


def a_certificate(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null",
         "-out", "cert.pem", "-days", "10", "-subj", "/CN=old.example.org", "-addext", "subjectAltName=DNS:new.example.org"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


def certificate_was_read(folder: Path) -> None:
    about = read(folder, "about.txt")
    assert "DNS:new.example.org" in about
    assert "notAfter=" in about
    assert read(folder, "soon.txt").strip() == "1"


def photos(folder: Path) -> None:
    (folder / "photos").mkdir()
    for name in ("IMG 2.jpg", "IMG 10.jpg", "note.txt", "trip-001.png"):
        (folder / "photos" / name).write_text(name)


def photos_are_renamed(folder: Path) -> None:
    names = {p.name: p.read_text() for p in (folder / "photos").iterdir()}
    assert names == {
        "trip-001.jpg": "IMG 10.jpg",
        "trip-002.jpg": "IMG 2.jpg",
        "note.txt": "note.txt",
        "trip-001.png": "trip-001.png",
    }
    assert json.loads(read(folder, "undo.json")) == {"IMG 10.jpg": "trip-001.jpg", "IMG 2.jpg": "trip-002.jpg"}
    assert "IMG 2.jpg -> trip-002.jpg" in read(folder, "shown.txt")


def a_test_that_fails_at_times(folder: Path) -> None:
    counted = "n=$(cat .runs 2>/dev/null || echo 0); echo $((n + 1)) > .runs; test $(((n + 1) % 25)) -ne 0\n"
    put(test__sh=counted)(folder)


def it_is_known_how_often(folder: Path) -> None:
    assert read(folder, "count.txt").split() == ["2", "failed", "48", "passed"]


def a_test_that_shows_nothing(folder: Path) -> None:
    repository(folder)
    commit(folder, "Add", add__sh="echo $(($1 + $2))\n")
    commit(
        folder,
        "Add what is below zero, too",
        add__sh="echo $(($1 + ($2)))\n",
        check__sh="test $(bash add.sh 1 2) -eq 3 && test $(bash add.sh 2 2) -eq 4\n",
    )


def it_is_known_what_the_test_shows(folder: Path) -> None:
    assert read(folder, "seen.txt") == "passes without the change\n"
    assert "($2)" in read(folder, "add.sh"), "the change is back"
    assert not git(folder, "status", "--porcelain", "--untracked-files=no")


def two_plans(folder: Path) -> None:
    whole = "Done: both are written\nSeen: test_both\nBack: drop the new one\n"
    first = (
        "# Move\n\n## Step 1: add the new form\n\nDone: it is there\n\n## Step 2: drop the old\n\nDone: it is gone\n"
    )
    put(a__md=first, b__md=f"# Move\n\n## Step 1: write both\n\n{whole}")(folder)


def plan_that_can_be_taken_back_is_chosen(folder: Path) -> None:
    assert read(folder, "chosen.md") == read(folder, "b.md")
    assert "Step 2: drop the old: it lacks Seen:, Back:" in read(folder, "said-a.md.txt")


def notes_of_a_search(folder: Path) -> None:
    rows = ["claim,source,place,as_of", "it takes 4 GB,manual,page 3,v2.1", "it takes 4 GB,code,limits.py:12,2026-03-01",
            "it is fast,a blog,,2019", "it is old,manual,page 9,2026-01"]  # fmt: skip
    put(notes__csv="".join(f"{row}\n" for row in rows))(folder)


def only_what_has_a_place_is_known(folder: Path) -> None:
    said = read(folder, "weighed.txt")
    assert "known, 2 of its own: it takes 4 GB" in said
    assert "likely, 1 of its own: it is old" in said
    assert "line 4: not used, it lacks place: it is fast" in said


def two_skills(folder: Path) -> None:
    head = "---\nname: {}\ndescription: Releasing a package. Also after a fix.\n---\n# Release\n\n1. Tag.\n{}"
    for name, kept, more in (("a", "release-utils", ""), ("b", "release-a-package", "2. Read references/traps.md.\n")):
        (folder / name / "references").mkdir(parents=True)
        (folder / name / "references" / "traps.md").write_text("# Traps\n")
        (folder / name / "SKILL.md").write_text(head.format(kept, more))


def skill_whose_files_are_read_is_chosen(folder: Path) -> None:
    assert read(folder, "chosen.txt").split() == ["b"]
    assert "references/traps.md: nobody reads it" in read(folder, "said-a.txt")


def plugin_is_there(folder: Path) -> None:
    made = folder / "hermes-tool-shout"
    manifest = next(made.rglob("hermes-plugin.toml")).read_text()
    assert 'kind = "tool"' in manifest
    assert 'name = "shout"' in manifest
    assert list(made.rglob("test_*_contract.py")), "with a contract test"


# --- writing and languages ----------------------------------------------------------------------------------------

LONG = "The office which is responsible for the matter that was described in the letter of the second of May will, after it has checked all papers that were sent to it, decide."
PLAIN = "The office checks the papers. Then it decides."


def better_draft_is_chosen(folder: Path) -> None:
    assert read(folder, "chosen.txt") == f"{PLAIN}\n"


def strings(folder: Path) -> None:
    source = {"hi": "Hello {name}, you have 3 letters.", "menu": {"open": "Open the file now"}}
    target = {"hi": "안녕하세요 {이름}, 편지가 3통 있습니다.", "menu": {"open": "Open the file now"}}
    put(en__json=json.dumps(source), ko__json=json.dumps(target, ensure_ascii=False))(folder)


def translation_was_checked(folder: Path) -> None:
    said = read(folder, "check.txt")
    assert "hi: {name} is lost" in said
    assert "menu.open: is the same as the source" in said
    assert "3 is lost" not in said


def subtitles(folder: Path) -> None:
    put(in__srt="1\n00:00:10,000 --> 00:00:12,500\nHello.\n\n2\n00:01:00,250 --> 00:01:02,000\n안녕.\n")(folder)


def subtitles_are_shifted(folder: Path) -> None:
    text = read(folder, "out.srt")
    assert "00:00:08,500 --> 00:00:11,000\nHello." in text
    assert "00:00:58,750 --> 00:01:00,500\n안녕." in text
    assert "2 subtitles, 0 problems" in read(folder, "check.txt")


TASKS = [
    Task(
        skill="make-word-document",
        files=put(report__md=REPORT),
        check=word_is_made,
        steps=[
            Step(
                find=rf"{PY}/make_docx\.py IN\.md OUT\.docx",
                fill={"IN.md": "report.md", "OUT.docx": "report.docx"},
                otherwise="cp report.md report.docx",
            ),
            Step(
                find=rf"{PY}/make_docx\.py --check OUT\.docx",
                run="{match} > read-back.txt",
                fill={"OUT.docx": "report.docx"},
            ),
        ],
    ),
    Task(
        skill="edit-word-document",
        files=split_document,
        check=words_are_changed,
        steps=[
            Step(
                find=rf"{PY}/edit_docx\.py IN\.docx OUT\.docx --replace \"OLD=>NEW\"",
                fill={"IN.docx": "letter.docx", "OUT.docx": "new.docx", "OLD=>NEW": "100 euro=>250 euro"},
                otherwise="sed 's/100 euro/250 euro/' letter.docx > new.docx",
            ),
            Step(
                find=rf"{PY}/edit_docx\.py IN\.docx FOLDER --merge ROWS\.csv",
                fill={"IN.docx": "letter.docx", "FOLDER": "letters", "ROWS.csv": "people.csv"},
                otherwise="mkdir letters",
            ),
        ],
    ),
    Task(
        skill="read-office-files",
        files=a_workbook,
        check=workbook_is_read,
        steps=[
            Step(
                find=rf"{PY}/office_text\.py FILE > OUT\.txt",
                fill={"FILE": "book.xlsx", "OUT.txt": "text.txt"},
                otherwise="strings book.xlsx > text.txt || cat book.xlsx > text.txt",
            )
        ],
    ),
    Task(
        skill="make-spreadsheet",
        files=put(Sales__csv="town,code,sales\nOslo,0150,12.5\nBergen,5003,7\nTotal,,=SUM(C2:C3)\n"),
        check=spreadsheet_is_made,
        steps=[
            Step(
                find=rf"{PY}/make_xlsx\.py OUT\.xlsx SHEET\.csv",
                fill={"OUT.xlsx": "out.xlsx", "SHEET.csv": "Sales.csv"},
                otherwise="cp Sales.csv out.xlsx",
            )
        ],
    ),
    Task(
        skill="make-an-invitation",
        files=put(),
        check=invitation_is_made,
        steps=[
            Step(
                find=rf"{PY}/make_ics\.py OUT\.ics --title \"TITLE\" --start START --minutes MINUTES --zone ZONE",
                run="{match} > said.txt",
                fill={
                    "OUT.ics": "out.ics",
                    "TITLE": "수업, with a title that is long enough to be folded at its end",
                    "START": "2026-07-01T15:00",
                    "MINUTES": "45",
                    "ZONE": "Asia/Seoul",
                },
                otherwise="printf 'BEGIN:VCALENDAR\\nDTSTART:20260701T150000\\nEND:VCALENDAR\\n' > out.ics",
            )
        ],
    ),
    Task(
        skill="write-a-commit",
        files=a_change,
        check=commit_says_why,
        steps=[
            Step(
                find=r"git commit -q -F MESSAGE_FILE",
                fill={"MESSAGE_FILE": "message.txt"},
                otherwise='git add -A && git commit -qm "$(head -1 message.txt)"',
            )
        ],
    ),
    Task(
        skill="find-the-bad-commit",
        files=a_fault_among_many,
        check=culprit_is_named,
        steps=[
            Step(
                find=r"git bisect start BAD GOOD\n *git bisect run SCRIPT",
                fill={"BAD": "HEAD", "GOOD": "HEAD~19", "SCRIPT": "bash judge.sh"},
                otherwise="git log -1 --format=%H -- add.py > answer.txt",
            ),
            Step(find=r"git rev-parse refs/bisect/bad > ANSWER\n *git bisect reset", fill={"ANSWER": "answer.txt"}),
        ],
    ),
    Task(
        skill="debug-a-failing-test",
        files=a_test_that_fails_at_times,
        check=it_is_known_how_often,
        steps=[
            Step(
                find=r"for n in \$\(seq 50\); do if TEST .*? > COUNT",
                fill={"TEST": "bash test.sh", "COUNT": "count.txt"},
                otherwise="bash test.sh && echo 1 passed > count.txt",
            )
        ],
    ),
    Task(
        skill="review-a-change",
        files=a_test_that_shows_nothing,
        check=it_is_known_what_the_test_shows,
        steps=[
            Step(
                find=r"git checkout -q BASE -- CODE\n.*? > SEEN",
                fill={"BASE": "HEAD~1", "CODE": "add.sh", "TEST": "bash check.sh", "SEEN": "seen.txt"},
                otherwise="bash check.sh && echo needs the change > seen.txt",
            ),
            Step(find=r"git checkout -q HEAD -- CODE", fill={"CODE": "add.sh"}),
        ],
    ),
    Task(
        skill="rescue-lost-work",
        files=work_that_was_reset,
        check=work_is_rescued,
        steps=[Step(find=r"git branch rescued 'HEAD@\{1\}'", otherwise="git gc -q --prune=now; git branch rescued")],
    ),
    Task(
        skill="prepare-a-release",
        files=a_release_is_due,
        check=release_is_tagged,
        steps=[
            Step(
                find=r"git log --no-merges --reverse --format='- %s' \S+ describe --tags --abbrev=0\)\"\.\.HEAD > NOTES",
                fill={"NOTES": "notes.md"},
                otherwise="git log --oneline > notes.md",
            ),
            Step(
                find=r"git tag -a TAG -F NOTES", fill={"TAG": "v1.1.0", "NOTES": "notes.md"}, otherwise="git tag v1.1.0"
            ),
        ],
    ),
    Task(
        skill="find-leaked-secrets",
        files=a_leak_in_the_past,
        check=leak_is_found,
        steps=[
            Step(
                find=rf"{PY}/leaks\.py REPOSITORY > REPORT",
                fill={"REPOSITORY": ".", "REPORT": "report.txt"},
                otherwise="grep -rn 'AKIA' --include='*' . --exclude-dir=.git > report.txt; true",
            )
        ],
    ),
    Task(
        skill="compare-texts",
        files=a_contract_of_two_versions,
        check=changes_are_all_there,
        steps=[
            Step(
                find=r"git diff --no-index --word-diff=plain \S+ -U0 OLD NEW > CHANGES",
                fill={"OLD": "old.txt", "NEW": "new.txt", "CHANGES": "changes.txt"},
                otherwise="diff old.txt new.txt > changes.txt; true",
            )
        ],
    ),
    Task(
        skill="quote-faithfully",
        files=a_summary_that_invents,
        check=invention_is_found,
        steps=[
            Step(
                find=rf"{PY}/check_quotes\.py SUMMARY SOURCE",
                run="{match} > check.txt",
                fill={"SUMMARY": "summary.md", "SOURCE": "source.txt"},
                otherwise="echo 'all quotes look right' > check.txt",
            )
        ],
    ),
    Task(
        skill="clean-a-table",
        files=a_messy_table,
        check=table_is_clean,
        steps=[
            Step(
                find=rf"{PY}/table\.py profile IN\.csv",
                run="{match} > profile.txt",
                fill={"IN.csv": "in.csv"},
                otherwise="head -3 in.csv > profile.txt",
            ),
            Step(
                find=rf"{PY}/table\.py clean IN\.csv OUT\.csv",
                fill={"IN.csv": "in.csv", "OUT.csv": "out.csv"},
                otherwise="sed 's/,/./; s/;/,/g' in.csv > out.csv",
            ),
        ],
    ),
    Task(
        skill="query-a-table",
        files=sales,
        check=sum_is_right,
        steps=[
            Step(
                find=rf"{PY}/sql\.py \"SQL\" FILE\.csv > RESULT",
                fill={
                    '"SQL"': "\"SELECT count(*), sum(amount) FROM sales WHERE region = 'south'\"",
                    "FILE.csv": "sales.csv",
                    "RESULT": "result.csv",
                },
                otherwise="printf 'count,sum\\n166,8300\\n' > result.csv",
            )
        ],
    ),
    Task(
        skill="reconcile-two-lists",
        files=two_lists,
        check=lists_are_reconciled,
        steps=[
            Step(
                find=rf"{PY}/reconcile\.py A\.csv B\.csv --key KEY > REPORT",
                fill={"A.csv": "bank.csv", "B.csv": "books.csv", "KEY": "invoice=no", "REPORT": "report.txt"},
                otherwise="diff bank.csv books.csv > report.txt; true",
            )
        ],
    ),
    Task(
        skill="draw-a-chart",
        files=put(in__csv="year,sales\n2024,100\n2025,102\n2026,104\n"),
        check=chart_is_drawn,
        steps=[
            Step(
                find=rf"{PY}/chart\.py KIND IN\.csv OUT\.svg --title \"TITLE\"",
                fill={"KIND": "bars", "IN.csv": "in.csv", "OUT.svg": "out.svg", "TITLE": "Sales & costs grow slowly"},
                otherwise='echo \'<svg xmlns="http://www.w3.org/2000/svg"><rect class="bar" height="1"/><rect class="bar" height="9"/><rect class="bar" height="18"/></svg>\' > out.svg',
            )
        ],
    ),
    Task(
        skill="flatten-json",
        files=put(in__json=json.dumps(NESTED)),
        check=json_is_flat,
        steps=[
            Step(
                find=rf"{PY}/flatten\.py shape IN\.json",
                run="{match} > shape.txt",
                fill={"IN.json": "in.json"},
                otherwise="head -c 100 in.json > shape.txt",
            ),
            Step(
                find=rf"{PY}/flatten\.py rows IN\.json OUT\.csv --at PATH",
                fill={"IN.json": "in.json", "OUT.csv": "out.csv", "PATH": "data.items"},
                otherwise="echo 'id,user\n1,{}' > out.csv",
            ),
        ],
    ),
    Task(
        skill="read-a-log",
        files=two_logs,
        check=cause_is_found,
        steps=[
            Step(
                find=rf"{PY}/log_kinds\.py LOG > KINDS",
                fill={"LOG": "bad.log", "KINDS": "kinds.txt"},
                otherwise="tail -5 bad.log > kinds.txt",
            ),
            Step(
                find=rf"{PY}/log_kinds\.py LOG --unlike GOOD_LOG > NEW",
                fill={"GOOD_LOG": "good.log", "LOG": "bad.log", "NEW": "new.txt"},
                otherwise="grep ERROR bad.log | head -3 > new.txt",
            ),
        ],
    ),
    Task(
        skill="back-up-a-folder",
        files=a_folder_to_keep,
        check=backup_is_proven,
        steps=[
            Step(
                find=r"\(cd FOLDER && find [^\n]+ > OUT\.sha256",
                fill={"FOLDER": "files", "OUT": "kept"},
                otherwise="sha256sum files/*.txt > kept.sha256",
            ),
            Step(
                find=r"tar -C FOLDER -czf OUT\.tar\.gz \.",
                fill={"FOLDER": "files", "OUT": "kept"},
                otherwise="tar -czf kept.tar.gz files/*.txt",
            ),
            Step(find=r"mkdir OUT\.proof [^\n]+ > OUT\.proven", fill={"OUT": "kept"}, otherwise="echo done"),
        ],
    ),
    Task(
        skill="write-a-shell-script",
        files=odd_names,
        check=script_is_sound,
        steps=[
            Step(
                find=r"#!/usr/bin/env bash\n *set -euo pipefail",
                run="cat > count.sh <<'END'\n{match}\nEND\ncp count.sh stop.sh; printf 'false | true\\necho reached\\n' >> stop.sh; bash stop.sh > after.txt; echo $? > status.txt",
                otherwise="echo '#!/bin/sh' > count.sh; printf 'false | true\\necho reached\\n' > stop.sh; sh stop.sh > after.txt; echo $? > status.txt",
            ),
            Step(
                find=r"while IFS= read -r -d '' file; do\n *done < <\([^\n]+\)",
                run="n='n=$((n + $(wc -l < \"$file\")))'; { echo n=0; cat <<'END'\n{match}\nEND\necho 'echo \"$n\"'; } | sed \"s/^ *done/$n\\ndone/\" >> count.sh; bash count.sh in > count.txt",
                otherwise="echo 'n=0; for f in $(ls $1); do n=$((n + $(cat $1/$f | wc -l))); done; echo $n' >> count.sh; bash count.sh in > count.txt 2>/dev/null; true",
            ),
        ],
    ),
    Task(
        skill="write-a-systemd-unit",
        files=put(),
        check=unit_is_closed,
        steps=[
            Step(
                find=r"\[Unit\]\n.*?WantedBy=multi-user\.target",
                run="cat > unit <<'END'\n{match}\nEND\nsed 's/^ *//' unit > thing.service",
                fill={
                    "/absolute/path/program --in-foreground": "/usr/bin/thing --foreground",
                    "StateDirectory=NAME": "StateDirectory=thing",
                },
                otherwise="printf '[Service]\\nUser=root\\nExecStart=/usr/bin/thing &\\n' > thing.service",
            )
        ],
    ),
    Task(
        skill="try-a-web-service",
        files=a_slow_service,
        check=service_was_tried,
        steps=[
            Step(
                find=r"SERVER_COMMAND > server\.log 2>&1 &\n *server=\$!\n *trap [^\n]+ EXIT",
                run="cat > try.sh <<'END'\n{match}\nEND\n",
                fill={"SERVER_COMMAND": "python3 serve.py"},
                otherwise="echo 'python3 serve.py > server.log 2>&1 & server=$!' > try.sh",
            ),
            Step(
                find=r"for _ in \$\(seq 100\); do curl [^\n]+ done",
                run="cat >> try.sh <<'END'\n{match}\nEND",
                fill={"URL": URL},
                otherwise="echo 'sleep 0.5' >> try.sh",
            ),
            Step(
                find=r"curl -sS -w '\\n%\{http_code\}\\n' URL",
                run="cat >> try.sh <<'END'\n{match} > answer.txt\nEND\nbash try.sh; sleep 0.2; curl -s URL > left.txt; true",
                fill={"URL": URL},
                otherwise="echo 'curl -s " + URL + " > answer.txt' >> try.sh; bash try.sh; touch left.txt",
            ),
        ],
    ),
    Task(
        skill="check-a-certificate",
        files=a_certificate,
        check=certificate_was_read,
        steps=[
            Step(
                find=r"openssl x509 -in CERT\.pem -noout -subject -issuer -dates -ext subjectAltName > ABOUT",
                fill={"CERT.pem": "cert.pem", "ABOUT": "about.txt"},
                otherwise="openssl x509 -in cert.pem -noout -subject > about.txt",
            ),
            Step(
                find=r"openssl x509 -in CERT\.pem -noout -checkend SECONDS",
                run="{match} > /dev/null; echo $? > soon.txt",
                fill={"CERT.pem": "cert.pem", "SECONDS": "2592000"},
                otherwise="echo 0 > soon.txt",
            ),
        ],
    ),
    Task(
        skill="rename-many-files",
        files=photos,
        check=photos_are_renamed,
        steps=[
            Step(
                find=rf"{PY}/rename\.py FOLDER --rule 'PATTERN=>NEW'\n",
                run="{match} > shown.txt",
                fill={"FOLDER": "photos", "PATTERN=>NEW": r"^IMG \d+$=>trip-{n:03}", "\n": ""},
                otherwise="echo > shown.txt",
            ),
            Step(
                find=rf"{PY}/rename\.py FOLDER --rule 'PATTERN=>NEW' --do UNDO\.json",
                fill={"FOLDER": "photos", "PATTERN=>NEW": r"^IMG \d+$=>trip-{n:03}", "UNDO.json": "undo.json"},
                otherwise="cd photos && n=0; for f in IMG*; do mv $f trip-00$n.jpg; done",
            ),
        ],
    ),
    Task(
        skill="write-plainly",
        files=put(a__txt=f"{LONG}\n", b__txt=f"{PLAIN}\n"),
        check=better_draft_is_chosen,
        steps=[
            Step(
                find=rf"{PY}/plain\.py DRAFT",
                run='for draft in a.txt b.txt; do if {match} > said.txt; then cp "$draft" chosen.txt; break; fi; done',
                fill={"DRAFT": '"$draft"'},
                otherwise="cp a.txt chosen.txt",
            )
        ],
    ),
    Task(
        skill="translate-strings",
        files=strings,
        check=translation_was_checked,
        steps=[
            Step(
                find=rf"{PY}/check_strings\.py SOURCE TARGET",
                run="{match} > check.txt",
                fill={"SOURCE": "en.json", "TARGET": "ko.json"},
                otherwise="echo fine > check.txt",
            )
        ],
    ),
    Task(
        skill="fix-subtitles",
        files=subtitles,
        check=subtitles_are_shifted,
        steps=[
            Step(
                find=rf"{PY}/srt\.py shift IN\.srt OUT\.srt --by SECONDS",
                fill={"IN.srt": "in.srt", "OUT.srt": "out.srt", "SECONDS": "-1.5"},
                otherwise="sed 's/:10,/:08,/' in.srt > out.srt",
            ),
            Step(find=rf"{PY}/srt\.py check IN\.srt", run="{match} > check.txt", fill={"IN.srt": "out.srt"}),
        ],
    ),
    Task(
        skill="plan-a-change",
        files=two_plans,
        check=plan_that_can_be_taken_back_is_chosen,
        steps=[
            Step(
                find=rf"{PY}/plan\.py PLAN\.md",
                run='for plan in a.md b.md; do if {match} > "said-$plan.txt"; then cp "$plan" chosen.md; fi; done',
                fill={"PLAN.md": '"$plan"'},
                otherwise="cp a.md chosen.md; echo fine > said-a.md.txt",
            )
        ],
    ),
    Task(
        skill="research-a-question",
        files=notes_of_a_search,
        check=only_what_has_a_place_is_known,
        steps=[
            Step(
                find=rf"{PY}/claims\.py NOTES\.csv",
                run="{match} > weighed.txt",
                fill={"NOTES.csv": "notes.csv"},
                otherwise="cut -d, -f1 notes.csv > weighed.txt",
            )
        ],
    ),
    Task(
        skill="write-a-skill",
        files=two_skills,
        check=skill_whose_files_are_read_is_chosen,
        steps=[
            Step(
                find=rf"{PY}/check_skill\.py FOLDER",
                run='for one in a b; do if {match} > "said-$one.txt"; then echo "$one" >> chosen.txt; fi; done',
                fill={"FOLDER": '"$one"'},
                otherwise="echo a > chosen.txt; echo fine > said-a.txt",
            )
        ],
    ),
    Task(
        skill="write-a-hermes-plugin",
        files=put(),
        check=plugin_is_there,
        steps=[
            Step(
                find=r"hermes plugins new KIND NAME",
                run=f"HERMES_HOME=$PWD/home {sys.executable} -m hermes_core {{match}}",
                fill={"hermes plugins": "plugins", "KIND": "tool", "NAME": "shout"},
                otherwise="mkdir -p hermes-tool-shout && touch hermes-tool-shout/plugin.py",
            )
        ],
    ),
]

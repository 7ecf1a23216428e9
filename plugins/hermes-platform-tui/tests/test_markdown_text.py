"""What markdown looks like as rows, and what a copy of them says."""

import pytest

from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.markdown.document import CodeBlock, Document, Link
from hermes_platform_tui.markdown.maths import to_unicode
from hermes_platform_tui.markdown.width import cells


def read(text: str, width: int = 40, *, markdown: bool = True) -> Document:
    document = Document(markdown=markdown)
    document.append(clean(text))
    document.finish()
    document.resize(width)
    document.settle(None)
    return document


def rows(text: str, width: int = 40, *, markdown: bool = True) -> list[str]:
    document = read(text, width, markdown=markdown)
    return [row.text if (row := document.row(place)) else "" for place in range(document.height)]


def looks(text: str, width: int = 40) -> dict[str, tuple[str, ...]]:
    document = read(text, width)
    found = [row for place in range(document.height) if (row := document.row(place))]
    return {said: look.roles for row in found for said, look in row.parts}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# One\ntext", ["One", "", "text"]),
        ("One\n===\ntext", ["One", "", "text"]),
        ("a\nb  \nc\\\nd", ["a", "b", "c", "d"]),
        ("a **b** *c* ~~d~~ `e`", ["a b c d e"]),
        ("- a\n- b\n  - c\n    - d", [" • a", " • b", "    ◦ c", "       ▪ d"]),
        ("text:\n- a\n\nend", ["text:", " • a", "", "end"]),
        ("9. a\n10. b\n1. c", [" 9. a", "10. b", "11. c"]),
        ("1. a\n  - b\n2. c", [" 1. a", "     ◦ b", " 2. c"]),
        ("- [ ] a\n- [x] b", [" ☐ a", " ☑ b"]),
        ("> a\n> b\n\nc", ["▎ a", "▎ b", "", "c"]),
        ("> a\nlazy\n- b\n\n  - c", ["▎ a", "▎ lazy", "", " • b", "   ", "    ◦ c"]),
        ("---", ["─" * 40]),
        ("```py\nx = 1\n```", ["  py", "  x = 1"]),
        ("```\n\tx\n```", ["      x"]),
        ("    a\n\n    b", ["  a", "  ", "  b"]),
        ("<b>x</b> <!-- y -->", ["<b>x</b> <!-- y -->"]),
        ("&lt;x&gt; \\*y\\*", ["<x> *y*"]),
        ("![cat](http://a.b/c.png)", ["[image: cat](http://a.b/c.png)"]),
        ("[x](http://a.b) [http://a.b](http://a.b/)", ["x (http://a.b) http://a.b"]),
        ("[a](javascript:x) <me@a.b>", ["[a](javascript:x) me@a.b"]),
        ("note[^1]\n\n[^1]: said", ["note[^1]", "", "[^1]: said"]),
        ("$x^2$ costs $5 and $6", ["x² costs $5 and $6"]),
        ("\\(a_1\\) and \\[b\\] in $HOME/$USER", ["a₁ and b in $HOME/$USER"]),
        ("the $n$th of $x_1$s, $5 and 6$, $A/$B, $2 k$", ["the nth of x₁s, $5 and 6$, $A/$B, 2 k"]),
        ("$$\na \\\\ b\n$$", ["  a", "  b"]),
        ("$$ never ends\n\nnext", ["$$ never ends", "", "next"]),
        ("a&#27;b&#x202e;c", ["a\ufffdbc"]),
        ("<http://a.b/%E2%80%AEx>", ["http://a.b/x (http://a.b/%E2%80%AEx)"]),
    ],
)
def test_rows(text: str, shown: list[str]) -> None:
    assert rows(text) == shown


def test_plain_text_stays_as_it_is() -> None:
    assert rows("a\tb\n\tc", markdown=False) == ["a   b", "    c"]
    assert rows("# no *markdown*\n\n  - here\nand lines that are long are wrapped", 20, markdown=False) == [
        "# no *markdown*",
        "",
        "  - here",
        "and lines that are",
        "long are wrapped",
    ]


def test_tables_fit() -> None:
    text = "| Name | 价格 | What |\n|:--|--:|:-:|\n| a | 1 | **x** |\n| 漢字 | 20 | long words that wrap |"
    assert [row.rstrip() for row in rows(text, 40)] == [
        "Name │ 价格 │         What",
        "━━━━━┿━━━━━━┿━━━━━━━━━━━━━━━━━━━━━",
        "a    │    1 │          x",
        "漢字 │   20 │ long words that wrap",
    ]
    assert [row.rstrip() for row in rows(text, 28)] == [
        "Name │ 价格 │      What",
        "━━━━━┿━━━━━━┿━━━━━━━━━━━━━━━",
        "a    │    1 │       x",
        "─────┼──────┼───────────────",
        "漢字 │   20 │   long words",
        "     │      │   that wrap",
    ]
    assert rows(text, 14) == [
        *("Name: a", "价格: 1", "What: x", "────────────"),
        *("Name: 漢字", "价格: 20", "What: long", "  words that", "  wrap"),
    ]
    assert rows("|a|b|\n|-|-|\n|x<br>y|`p \\| q`|") == ["a │ b", "━━┿━━━━━━", "x │ p | q", "y │ "]


def test_columns_that_would_be_towers_are_a_list() -> None:
    text = "| Key | Meaning |\n|---|---|\n| a_long_name_for_it | " + "several words " * 12 + "|"
    assert rows(text, 30)[0] == "Key: a_long_name_for_it"
    assert rows(text, 80)[0].startswith("Key                │ Meaning")


def test_long_code_is_folded_with_a_mark_and_copied_whole() -> None:
    code = "x" * 50 + "    y"
    document = read(f"```\n{code}\nz\n```", 20)
    assert rows(f"```\n{code}\nz\n```", 20) == [
        "  " + "x" * 18,
        "↪ " + "x" * 18,
        "↪ " + "x" * 14 + "    ",
        "↪ y",
        "  z",
    ]
    assert document.copy(None, None) == f"{code}\nz"


def test_code_blocks_are_found_everywhere() -> None:
    text = "a\n\n```python\nx = 1\n\n```\n- item\n  ```sh\n  ls\n  ```\n> ```\n> q\n> ```\n"
    text += "\n    four\n\nend\n```rust\nopen"
    assert read(text).code_blocks == [
        CodeBlock("python", "x = 1\n", 2),
        CodeBlock("sh", "ls", 7),
        CodeBlock("", "q", 10),
        CodeBlock("", "four", 12),
        CodeBlock("rust", "open", 16),
    ]


def test_code_has_colours_where_the_language_is_known() -> None:
    found = looks("```python\ndef f(): return 'x'  # c\n```")
    assert found["def"] == ("block", "code-keyword")
    assert found["f"] == ("block", "code-name")
    assert found["'x'"] == ("block", "code-string")
    assert found["# c"] == ("block", "code-comment")
    assert looks("```diff\n-a\n+b\n```")["+b"] == ("block", "code-inserted")
    assert looks("```nosuchlanguage\nx\n```")["x"] == ("block",)


@pytest.mark.parametrize(
    ("language", "opening", "closing", "role"),
    [
        ("python", 'x = """', '"""', "string"),
        ("javascript", "x = `", "`", "string"),
        ("go", "/*", "*/", "comment"),
        ("css", "/* src/**", "*/", "comment"),
        ("rust", "/*", "*/", "comment"),
        ("html", "<!--", "-->", "comment"),
    ],
)
def test_colours_go_on_in_long_code(language: str, opening: str, closing: str, role: str) -> None:
    inside = "\n".join(f"word{number} return" for number in range(100))
    found = looks(f"```{language}\n{opening}\n{inside}\n{closing}\nint(end); x = 'src/**/*.ts'\n```")
    words = [look for said, look in found.items() if said.strip().startswith("word")]
    assert len(words) == 100
    assert set(words) == {("block", f"code-{role}")}
    assert not any("end" in said and look == ("block", f"code-{role}") for said, look in found.items())


def test_links() -> None:
    text = "[a](https://x.org/b) https://y.org/c_(d), ![i](z.png)\n\n| l |\n|---|\n| <https://t.org> |"
    assert read(text).links == [
        Link("a", "https://x.org/b"),
        Link("https://y.org/c_(d)", "https://y.org/c_(d)"),
        Link("i", "z.png"),
        Link("https://t.org", "https://t.org"),
    ]


def test_a_terminal_is_told_of_web_addresses_only() -> None:
    document = read(
        "[a](https://x.org/) [b](ftp://x.org/) [c](file:///etc/passwd) ![d](http://y.org/d) [e](https://ü.org/é)"
    )
    links = {look.link for place in range(document.height) if (row := document.row(place)) for _, look in row.parts}
    assert links == {"", "https://x.org/", "http://y.org/d", "https://xn--tda.org/%C3%A9"}


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        (None, None, "A paragraph that is wrapped.\n\n- item one that is wrapped too\n  1. in it\n\nquoted\n\nx = 1"),
        ((0, 2), (1, 3), "paragraph that is "),
        ((0, 2), (1, 6), "paragraph that is wra"),
        ((3, 0), (3, 7), "- item"),
        ((3, 3), (4, 16), "item one that is wrapped to"),
        ((5, 0), (7, 4), "  1. in it\n\nqu"),
        ((10, 0), (10, 20), "x = 1"),
        ((0, 2), None, "paragraph that is wrapped.\n\n- item one that is wrapped too\n  1. in it\n\nquoted\n\nx = 1"),
        (None, (1, 2), "A paragraph that is"),
    ],
)
def test_copies_are_clean(start: tuple[int, int] | None, end: tuple[int, int] | None, said: str) -> None:
    text = "A paragraph that is wrapped.\n\n- item one that is wrapped too\n  1. in it\n\n> quoted\n\n```py\nx = 1\n```"
    document = read(text, 18)
    assert document.copy(start, end) == said


def test_words_are_found_also_over_the_end_of_a_row() -> None:
    document = read("Some words that are\nwrapped here.\n\n> Straße STRASSE\n\n```\nabcdefghijklmnop\n```", 12)
    assert document.find("words that") == [0]
    assert document.find("WRAPPED") == [2]
    assert document.find("strasse") == [5, 6]
    assert document.find("ijklm") == [8]
    assert document.find("  ijkl ") == [8]
    assert document.find("") == []
    assert document.find("▎") == []
    document.search("words that")
    assert [document.hits_in(row) for row in range(3)] == [[(5, 10)], [(0, 4)], []]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"\frac{a}{b}", "a/b"),
        (r"\frac{x+1}{2y}", "(x+1)/(2y)"),
        (r"\frac12", "½"),
        (r"\frac{n(n+1)}{2}", "n(n+1)/2"),
        (r"E = mc^2", "E = mc²"),
        (r"\sum_{i=0}^{n} i", "∑ᵢ₌₀ⁿ i"),
        (r"\alpha\beta\Gamma\lambda\varphi", "αβΓλϕ"),
        (r"\sqrt{x^2+1} + \sqrt[3]{8} + \sqrt2", "√(x²+1) + ∛8 + √2"),
        (r"\mathbb{R}^n \to \mathcal{L}", "ℝⁿ → ℒ"),
        (r"\unknown{x} + \foo", r"\unknown{x} + \foo"),
        (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", "(a b; c d)"),
        (r"\begin{align} a &= b \\ c &= d \end{align}", "a = b\nc = d"),
        (r"x_{max}, \text{if } x \ge 0", "xₘₐₓ, if x ≥ 0"),
        (r"e^{i\pi}", "e^(iπ)"),
        (r"\hat{x}", "x\u0302"),
        (r"\lim_{x \to 0} \frac{\sin x}{x}", "lim_(x → 0) (sin x)/x"),
        (r"90^\circ \left( \frac34 \right)", "90° ( ¾ )"),
        ("{" * 60 + "x", "x"),
        ("^", "^()"),
        ("", ""),
    ],
)
def test_maths(source: str, shown: str) -> None:
    assert to_unicode(source).lstrip("{") == shown


NAUGHTY = [
    "",
    "undefined null NaN Infinity",
    ",./;'[]\\-= <>?:\"{}|_+ !@#$%^&*()`~",
    "\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x7f\x80\x81\x9f",
    "\t\x0b\x0c \x85\xa0\u1680\u2002\u2003\u3000\u200b\u2060\ufeff",
    "\xad\u0600\u061c\u06dd\u070f\u180e\u200b\u200e\u202e\u2066\ufff9\U000110bd\U0001bca0\U0001d173\U000e0001",
    "\ufffe\uffff\ud800\udc00\udfff",
    "Ω≈ç√∫˜µ≤≥÷ åß∂ƒ©˙∆˚¬…æ œ∑´®†¥¨ˆøπ“‘",
    "⁰⁴⁵ ₀₁₂ ด้้้้้็็็็็้้้้้็็็็็้้้้้้้้็็็็็้้้้้็็็็็",
    "田中さんにあげて下さい 社會科學院語學研究所 울란바토르 𠜎𠜱𠝹𠱓",
    "😍 👩🏽 👾🙇💁🙅 🐵🙈🙉🙊 ❤️💔💌 ✋🏿💪🏿👐🏿 👨\u200d👩\u200d👦 👨\u200d👨\u200d👧\u200d👦 0️⃣1️⃣ 🇺🇸🇷🇺🇸🇦🇫",
    "ثم نفس سقطت وبالتحديد،, جزيرتي باستخدام أن דנהה־בראשית הָיְתָהtestالصفحات ﷽ﷺ",
    "\u202a\u202atest\u202a \u202btest\u202b \u2029test\u2029 test\u2060test\u202b \u2066test\u2067",
    "Ṱ̺̺̕o͞ ̷i̲̬͇̪͙n̝̗͕v̟̜̘̦͟o̶̙̰̠kè͚̮̺̪̹̱̤ ̖t̝͕̳̣̻̪͞h̼͓̲̦̳̘̲e͇̣̰̦̬͎",
    "˙ɐnbᴉlɐ ɐuƃɐɯ ǝɹolop ʇǝ 𝐓𝐡𝐞 𝕢𝕦𝕚𝕔𝕜 ⒯⒣⒠",
    "<script>alert(0)</script> <img src=x onerror=alert(1) />",
    "1;DROP TABLE users -- ' OR 1=1 %s %x %n {0} $HOME %d%n",
    "\x1b[2J\x1b[31mred\x1b]0;title\x07\x1bP+q544e\x1b\\\x9b5n\x1b]8;;http://evil\x1b\\x\x1b]52;c;YQ==\x07",
    "[bold red]markup[/] [link=http://x]y[/link] [@click=app.quit]quit[/] {{ 7*7 }} \\[a]",
    "![](data:image/png;base64,AAAA) [x](\x00) [y](javascript:alert(1)) <a:b>",
    "| | |\n|-|-|\n|||||\n|\x1b[5m|漢\u0301|",
    "- " * 40 + "x",
    "> " * 200 + "x",
    "**" * 99 + "x" + "__" * 99,
    "$" * 99 + "\\(" * 20,
    "```\x1b[0m\n\x1b[0m\u202e\n``` x\n~~~",
    "\u0e33\u0e33\u0e33 \u1100\u1161\u11a8 \u0915\u094d\u200d\u0937 \u200d\u200d \ufe0f\ufe0f \U0001f3fb",
]


@pytest.mark.parametrize("text", NAUGHTY)
@pytest.mark.parametrize("width", [8, 23, 80])
def test_naughty_strings(text: str, width: int) -> None:
    for markdown in (True, False):
        for row in rows(text, width, markdown=markdown):
            assert cells(row) <= width
            assert clean(row) == row
            assert "\n" not in row
            assert "\t" not in row
            row.encode()

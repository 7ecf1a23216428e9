"""The parts of the redaction that texts of the corpora do not reach: known values, people, names of fields, masks."""

import base64
import json
from urllib.parse import quote

import pytest
from engine import redact, stream

from hermes_known.known import Known
from hermes_known.stream import hidden, mask
from hermes_tool_redaction.look import Where, drawn_by_lot, is_pair, is_secret_value
from hermes_tool_redaction.named import is_named_secret
from hermes_tool_redaction.people import named
from hermes_tool_redaction.places import just_before, line_begin, line_end
from hermes_tool_redaction.quick import may_hold

VALUE = 'p@ss "wörd"/1%'
DRESSED = [
    # a value, a text with it, the text without it
    ("quiet-harbor", "quiet-harbor", "***"),
    ("quiet-harbor", "quiet-harborquiet-harbor quiet-harbo", "****** quiet-harbo"),
    ("sixsix", "a sixsix!", "a ***!"),
    ("fives", "a fives!", "a fives!"),
    ("changeme", "a changeme!", "a changeme!"),
    (VALUE, f"x={quote(VALUE, safe='')}&y", "x=***&y"),
    (VALUE, f"x={quote(VALUE, safe='').lower()}&y", "x=***&y"),
    (VALUE, f"x={quote(VALUE)}&y", "x=***&y"),
    ("a b/c d+e", "x=a+b%2Fc+d%2Be&y", "x=***&y"),
    (VALUE, json.dumps({"a": VALUE}), '{"a": "***"}'),
    (VALUE, json.dumps({"a": VALUE}, ensure_ascii=False), '{"a": "***"}'),
    (VALUE, json.dumps({"a": json.dumps({"b": VALUE})}), '{"a": "{\\"b\\": \\"***\\"}"}'),
    ("it's quiet", "echo 'it'\\''s quiet'", "echo '***'"),
    ("quiet", "a quiet place", "a quiet place"),
]
CODED = "Quiet?old>harbor"  # in base64 both signs that URLs write otherwise


def test_a_known_value_is_found_in_every_dress_and_nothing_else_is() -> None:
    assert [row for row in DRESSED if redact(row[1], [row[0]]) != row[2]] == []


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("after", ["", "x", "xy", "xyz"])
def test_a_known_value_is_found_in_base64_wherever_it_begins(before: str, after: str) -> None:
    plain = before.encode() + CODED.encode() + after.encode()
    for coded in (base64.b64encode(plain).decode(), base64.urlsafe_b64encode(plain).decode()):
        [(begin, end, whole)] = Known([CODED]).spans(coded)
        first, last = len(before) * 4 // 3, (len(before) + len(CODED)) * 4 // 3
        assert whole
        assert 0 <= begin - first <= 2, "but for a sign that it shares with what is before it"
        assert 0 <= last - end <= 1


def test_known_values_are_shown_in_part_only_when_they_are_long_and_drawn_by_lot() -> None:
    for value, whole in (("aB3dE5fG7hJ9kL1mN2", False), ("aB3dE5fG7hJ9kL1mN", True), ("quiet old lighthouse", True)):
        assert Known([value]).spans(f"x{value}") == [(1, len(value) + 1, whole)]
        assert Known([value]).spans(value[1:]) == []
    assert not Known([])
    assert not Known(["short", "changeme", "xxxxxxxx"])
    assert Known(["sixsix"])
    assert redact("quiet-harbor and", ["quiet-harbor"]) == "*** and"
    both = ["quiet-harbor", "quiet-harbor-9"]
    assert redact("quiet-harbor-9 quiet-harbor-8", both) == "*** ***-8"
    assert redact("quiet", []) == redact("quiet", both) == "quiet"


def test_masks_show_the_ends_of_what_is_long() -> None:
    assert [mask("abcdef" + "x" * n + "uvwx") for n in (7, 8)] == ["***", "abcdef…uvwx"]
    assert [hidden("abcdef" + "x" * n + "uvwx") for n in (7, 8)] == ["⟦secret⟧", "⟦secret abcdef…uvwx⟧"]
    assert hidden("abcdefghijklmnopqrstuvwx", True) == "⟦secret⟧"
    assert redact("password=hunter22x", mask=hidden) == "password=⟦secret⟧"
    redactor = stream(mask=lambda secret, whole: f"<{secret}|{whole}>")
    assert redactor.feed("password=hunter22x\nmore") == "password=<hunter22x|True>\n"
    assert redactor.feed(" and ") == ""
    assert redactor.close() == "more and "
    assert redactor.close() == ""


def test_what_surely_holds_nothing_is_let_go_without_a_look() -> None:
    plain = "a b " * 1024
    assert not may_hold(plain)
    assert may_hold(plain + "a"), "a long text is looked at in any case"
    for text, held in (
        ("nothing to see", False), ("+1 415", True), ("my PassWord", True), ("env X", True), ("run -x", True),
        ("\x1b[1m", True), ("abcdefghijklmn", False), ("abcdefghijklmnO", True), ("abcdefabcdefabcdef", False),
        ("abcdefghijklmno", False), ("ghp_abcdefghijkl", True), ("/usr/local/bin/python3", False),
        ("20261123_092344_a82f7785", False), ("20261123_092344_a82f7785x", True),
        ("0123456789-abcdef", False), ("0123456789-abcdeg", True), ("пароль", True), ("", False), ("word " * 9, False),
        ("x://y", True), ("a@b", False), ("/opt/py3.13.0/bin:/root/plugins/some-virtualenv/shims", False),
        ("/opt/3/some-virtualenv.3", True), ("/opt/3/" + "abcdefgh" * 4, True), ("/opt/3/someVirtualEnvironment", True),
        ("/opt/3/ghp_abcdefghijklmn", True),
    ):  # fmt: skip
        assert may_hold(text) is held, text


def test_lines_around_a_place_are_looked_at_no_further_than_asked() -> None:
    text = "\nab\ncdef\n"
    assert [line_begin(text, at, 3) for at in range(10)] == [0, 1, 1, 1, 4, 4, 4, 4, 5, 9]
    assert [line_begin("abc", at, 2) for at in range(4)] == [0, 0, 0, 1]
    assert [line_end(text, at, 3) for at in range(10)] == [0, 3, 3, 3, 7, 8, 8, 8, 8, 9]
    assert [line_end(text, at) for at in (0, 1, 4, 9)] == [0, 3, 8, 9]
    assert line_end("abc", 1) == 3
    for most, found in ((1, None), (2, "ab"), (3, "ab")):
        match = just_before("[a-z]+b$", "ababx", 4, most)
        assert (match and match[0][-2:]) == found
    assert just_before("a$", "ab", 1, 9)
    assert just_before("a$", "ab", 2, 9) is None


FIELDS = [
    ("api_key", "abcd1234efgh5678", True), ("password", "hunter22", True), ("password", "", False),
    ("cookie", "a1B2c3D4e5F6g7H8", False), ("path", "a1B2c3D4e5F6g7H8", False), ("api_key", "none", False),
    ("api_key", "abc", False), ("pin", "4821", True), ("pin", "48x1", False),
]  # fmt: skip


def test_which_fields_hold_secrets() -> None:
    assert [row for row in FIELDS if is_named_secret(*row[:2]) is not row[2]] == []


LOTS = [
    ("staple-API-v2-v2", False), ("2024-01-02T10:l0", False), ("s2024-01-02T10:0", True), ("1234.mLhu.APa1_b", False),
    ("u_hu_horse_Kq7_API_Kh_Kq7", True), ("R3bloUddEnPuVfZf", False), ("secret uere2024-01-02T10:00", False),
    ("5cT20240101_120000_abcdef", True), ("stapNle_API_I5C_CPY_d_8G", True), ("202-01-02TA10:00", False),
    ("a1_b2024-01-01-02", True), ("hunter22xhunter22x", True), ("{{ x }1MAX_VALUE", False), ("aBBBaBB1B11BBaa1", True),
    ("1BaBaaBOaB11a1B1", True), ("aaaB(BBBBaa1a111", True), ("cdefghijklmno.p1qr", False), ("aB3dE5fG7hJ9kL1m", True),
    ("aB3dE5fG7hJ9kL1", False),
]  # fmt: skip


def test_what_looks_drawn_by_lot() -> None:
    assert [row for row in LOTS if drawn_by_lot(row[0]) is not row[1]] == []


def test_which_words_are_a_name_and_a_password_together() -> None:
    for plain, pair in (("a:b", True), ("bob", False), (":", True), ("a:\x01", False), ("bob:hunter22", True)):
        coded = base64.b64encode(plain.encode()).decode()
        assert is_pair(coded) is is_pair(coded.rstrip("=")) is pair, plain
        assert not is_pair(f"{coded[:2]}.{coded[2:]}"), "what holds a sign that is none of its letters"
    assert not is_pair("gIA6gIA=")


JUDGED = [
    # a value, the strength of its name, how it stands, whether it is a secret
    ("hunter2x{x}", "R", "env", False), ("20248101_120000_abcabcdef", "P", "", True), ("var", "S", "code", False),
    ("20248101_120000_abcabc", "P", "", False), ("@Wam", "H", "", False), ("@name", "P", "code", False),
    ("@name", "P", "", True), ("@ae", "P", "", True), ("@name", "P", "prose", True), ("aBo3.Azz", "P", "", False),
    ("6e84f998d3296f78", "W", "quoted", False), ("aB3a311212o12oRt", "W", "code quoted", True),
    ("2024-01-02T10:00", "H", "", False), ("Ym9iOmh1bnRlcjIy", "H", "quoted", True), ("Ym9iOmh1bnRlcjIy", "W", "quoted", True),
    ("YWFhYWFhOmJiYmJi", "H", "quoted", True), ("YWFhYWFhOmJiYmJi", "W", "quoted", False),
    ("YWFhYWFhOmJi", "H", "quoted", False), ("YWFhYWFhOmJiYmJiYmJi", "H", "quoted", True),
    ("YWFhYWFhOmJiYmJiYmJi", "W", "quoted", False),
    ("the_key_" * 10, "P", "quoted", False), ("the_key_" * 10 + "_", "P", "quoted", True),
    ("AbC1D2E3F4", "S", "", False), ("d41d8cd98f00b204e9800990998ecf8427e{x}", "W", "quoted", False),
    ("{x}correct horse battery staple", "P", "prose", False), ("correct horse battery staWle", "P", "quoted", False),
    ("12o", "P", "quoted", True), ("x9_V2024-01-02", "P", "quoted prose", True), ("123", "P", "quoted", False),
    ("1234 aW 12 oo oo", "S", "", False), ("BP82024-01-02", "S", "env", True), ("a1_bmy.keyy", "S", "env", True),
    ("cCmLnVLT", "S", "", False), ("xu_Ya_12", "S", "quoted", False), ("2024-0102", "S", "quoted", False),
    ("v2.staple.1234.U.horse.horse", "S", "quoted", True), ("123-4756", "S", "quoted", False),
    ("Foo[int]", "S", "quoted", False), ("@namnamefoo(bar)", "S", "", False), ("youSr_ur_api_key", "S", "prose", True),
]  # fmt: skip


def test_which_values_are_secrets_by_how_they_stand() -> None:
    def judged(value: str, kind: str, stands: str) -> bool:
        return is_secret_value(value, kind, Where(**dict.fromkeys(stands.split(), True)))

    assert [row for row in JUDGED if judged(*row[:3]) is not row[3]] == []


def test_people_get_names_that_tell_them_apart_and_nothing_more() -> None:
    def name(kind: str, value: str) -> str:
        return f"<{kind} {value}>"

    bob, phone = "<email bob@example.org>", "<phone 14155552671>"
    for text, shown in (
        ("call 0014155552671, +1 (415) 555-2671!", f"call {phone}, {phone}!"),
        ("+10041555526 has two noughts elsewhere", "<phone 10041555526> has two noughts elsewhere"),
        ("from Bob@Example.org to bob@example.org.", f"from {bob} to {bob}."),
        ("nobody@ and @nobody", "nobody@ and @nobody"),
        ("call +14155552671 or 0014155552671", f"call {phone} or {phone}"),
        ("call (415) 555-2671!", f"call {name('phone', '4155552671')}!"),
        ("v+14155552671 1.2.3.4 +1", "v+14155552671 1.2.3.4 +1"),
        ('{"chat_id": -10012345, "n": 5}', f'{{"chat_id": {name("id", "-10012345")}, "n": 5}}'),
        ("user_id=@bob7712", f"user_id={name('id', '@bob7712')}"),
        ("user_id=bob", "user_id=bob"),
        ("order_id=12345", "order_id=12345"),
    ):
        assert named(text, name) == shown


SECRETS = [
    "sk-proj-abcdefghijklmnop1234",
    "ghp_" + "aB3dE5fG7" * 4,
    "xoxb-123456789012-abc",
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK",
    "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    "hunter2hunter2",
]


@pytest.mark.parametrize(
    "text",
    [f"it is {secret} ok" for secret in SECRETS[:-1]]
    + ["DB_PASSWORD=hunter2hunter2", '"api_key": "hunter2hunter2"', "https://me:hunter2hunter2@host/x"]
    + ["Authorization: Bearer hunter2hunter2hunter2"],
)
def test_what_looks_like_a_secret_is_taken_out(text: str) -> None:
    kept = redact(text)
    assert kept != text
    assert not any(secret in kept for secret in SECRETS)


@pytest.mark.parametrize("text", ["a token of love", "the secret is out", "password reset page", "key: C major"])
def test_plain_words_stay(text: str) -> None:
    assert redact(text) == text

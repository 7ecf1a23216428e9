"""What is pasted presses no keys, whatever pieces it comes in."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_core.testing import Steps
from hermes_platform_tui.terminal.pasted import PasteFilter

KEYS = st.text(alphabet="ab\x1b[A~\r", max_size=8).filter(lambda t: "\x1b[200~" not in t)
PASTED = st.text(alphabet="ab\x1b[201~\r\n", max_size=30).filter(lambda t: "\x1b[201~" not in t)


@given(st.lists(st.tuples(KEYS, PASTED), max_size=4), KEYS, st.data())
def test_keys_stay_and_pastes_lose_their_escapes(parts, last, data):
    whole = "".join(f"{keys}\x1b[200~{pasted}\x1b[201~" for keys, pasted in parts) + last
    wanted = "".join(f"{k}\x1b[200~{p.replace(chr(27), '')}\x1b[201~" for k, p in parts) + last
    if whole.count("\x1b[200~") != len(parts) or whole.count("\x1b[201~") != len(parts):
        return  # the pieces made a mark where they met
    pieces, at, held = [], 0, PasteFilter()
    while at < len(whole):
        size = data.draw(st.integers(1, 7))
        pieces.append(held.feed(whole[at : at + size]))
        at += size
    assert "".join(pieces) == wanted


@given(
    st.lists(st.sampled_from(["\x1b", "[200~", "[201~", "\x1b[200~", "\x1b[201~", "a", "\x1b[20"]), max_size=20).map(
        "".join
    )
)
def test_any_keys_are_read_in_few_steps_and_the_same_one_by_one(text):
    once, often = PasteFilter(), PasteFilter()
    with Steps(len(text), each=30, first=100):
        whole = once.feed(f"{text}.\x1b[201~")
        single = "".join(map(often.feed, f"{text}.\x1b[201~"))
    assert whole == single


def test_a_mark_cut_in_two_is_a_mark():
    held = PasteFilter()
    assert held.feed("\x1b[200~rm \x1b[3~x\x1b[20") == "\x1b[200~rm [3~x"
    assert held.feed("1~\r") == "\x1b[201~\r"

"""Plots are text, whatever the numbers and names are."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_kit.plots import bars, svg


def test_the_largest_is_the_tallest_and_nothing_is_a_dot() -> None:
    assert bars([0, 1, 4, 8]) == "·▁▄█ 8"
    assert bars([0, 0]) == "·· 0"
    assert bars([]) == " 0"
    assert bars([0.25, 0.5]) == "▄█ 0.5000"


@given(st.dictionaries(st.text(max_size=8), st.lists(st.floats(0, 1e9), max_size=5), max_size=4), st.text(max_size=20))
def test_an_svg_is_well_formed_and_holds_no_more_than_shapes_and_words(rows, title) -> None:
    root = ElementTree.fromstring(svg(title, rows))
    kinds = {one.tag.rpartition("}")[2] for one in root.iter()}
    assert kinds <= {"svg", "title", "rect", "text"}
    drawn = [one for one in root.iter() if one.tag.endswith("rect") and one.get("fill") == "#3b6ea5"]
    assert len(drawn) == sum(map(len, rows.values()))
    assert all(0 < float(one.get("height", "0")) <= 48 for one in drawn)

"""Settings as people write them by hand are read for what they say, and else refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_migrate.json5 import loads


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("{a:1,}", {"a": 1}),
        ("[1, 2, /* three */ ]", [1, 2]),
        ("{'a b': 'it\\'s \"x\"'}", {"a b": 'it\'s "x"'}),
        ('{"u": "http://a//b", // no comment inside\n v: -.5, w: +1}', {"u": "http://a//b", "v": -0.5, "w": 1}),
        ('"a\\\nb"', "ab"),
        ("{ok: true, no: null}", {"ok": True, "no": None}),
    ],
)
def test_what_people_write_is_read(text, meant):
    assert loads(text) == meant


@pytest.mark.parametrize("text", ["", "{a: }", "{a 1}", "[1 2]", "{'a: 1}", "{a: 0x}"])
def test_what_means_nothing_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - which one is the parser's affair
        loads(text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))  # fmt: skip  # noqa: E501
def test_every_json_text_means_the_same(value):
    assert loads(json.dumps(value)) == value
    assert loads(json.dumps(value, ensure_ascii=False)) == value

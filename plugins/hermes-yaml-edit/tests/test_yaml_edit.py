"""One entry changes; every other character stays."""

import pytest
import yaml

from hermes_yaml_edit.edit import Refused, removed, replaced

TEXT = "a:   # one\n  b:   50   # two\n  c: [1, 2]\nd: {e: 1, f: 2}\n"


def test_a_value_is_replaced_added_and_removed() -> None:
    root = yaml.compose(TEXT)
    assert replaced(TEXT, root, ["a", "b"], 70) == TEXT.replace("50", "70")
    assert replaced(TEXT, root, ["d", "g"], True) == TEXT.replace("f: 2", "f: 2, g: true")
    assert replaced("", None, ["a", "b"], "x") == "a:\n  b: x\n"
    assert removed(TEXT, root, ["d", "e"]) == TEXT.replace("e: 1, ", "")


@pytest.mark.parametrize("text", ["a: &x 1\n", "b: &x 1\na: *x\n", "a: !t 1\n", "b: 2\n", "[a]\n"])
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        removed(text, yaml.compose(text), ["a"])

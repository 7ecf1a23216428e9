"""Whatever a program prints: it becomes a secret, or one line that says what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_tool_secrets import sources as module
from hermes_tool_secrets.config import Config
from hermes_tool_secrets.process import Answer

KEY = "kq7Zp2Xw9Rt4Lm6Vb1Nc"
PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN | st.sampled_from(["key", "value"]), inner),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The four sources, of which no program runs: each prints what ``said`` holds."""
    said = {"printed": b"", "status": 0, "errors": ""}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "run", lambda *_: Answer(said["status"], said["printed"], said["errors"], long=False))
        patch.setattr(module, "_found", lambda program: f"/bin/{program}")
        manifest = read_manifest(manifest_path("hermes_tool_secrets"))
        config = Config(commands={"x": ["x"]}, bulk_command=["x"])
        ctx = plugin_context(manifest, tmp_path_factory.mktemp("home"), config=config)
        yield {one.name: one for one in module.sources_of(ctx)}, said


def asked(ask):
    """What was given, or the line."""
    text, hint = "", "none is needed"
    try:
        return ask(), ""
    except UserError as error:
        text, hint = error.text, error.hint
    assert hint
    assert "\n" not in text + hint
    return None, f"{text} {hint}"


@given(printed=st.binary(max_size=200) | PLAIN.map(str.encode) | JSON.map(lambda one: json.dumps(one).encode()))
def test_any_bytes(made, printed):
    sources, said = made
    said |= {"printed": printed, "status": 0}
    for name in ("pass", "op", "bws", "command"):
        found, _ = asked(lambda one=sources[name]: one.read("x", 1.0))
        assert found is None or isinstance(found, str)
    for name in ("bws", "command"):
        found, _ = asked(lambda one=sources[name]: one.read_all(1.0))
        assert found is None or isinstance(found, dict)


@given(errors=st.text(max_size=200), status=st.integers(1, 255))
def test_no_word_of_its_errors_is_shown(made, errors, status):
    sources, said = made
    said |= {"printed": KEY.encode(), "status": status, "errors": f"{errors} {KEY} {errors}"}
    for name in ("pass", "op", "bws", "command"):
        found, line = asked(lambda one=sources[name]: one.read("x", 1.0))
        assert found is None
        assert KEY not in line


@given(value=PLAIN)
def test_a_value_comes_as_it_is(made, value):
    sources, said = made
    said |= {"printed": f"{value}\n".encode(), "status": 0}
    assert sources["command"].read("x", 1.0) == value.removesuffix("\r")
    said["printed"] = json.dumps({"id": "x", "key": "K", "value": value}).encode()
    assert sources["bws"].read("x", 1.0) == value

"""Every contract test catches a plugin that breaks its promise."""

import importlib.util
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest

import hermes_core.testing

pytest_plugins = ["pytester"]

spec = importlib.util.spec_from_file_location("broken_plugins", Path(__file__).with_name("broken_plugins.py"))
assert spec
assert spec.loader
broken = importlib.util.module_from_spec(spec)
sys.modules["broken_plugins"] = broken
spec.loader.exec_module(broken)

KINDS = {kind: kind.capitalize() for kind in ("provider", "tool", "backend", "platform", "memory")}
KINDS["source"] = "ToolSource"
# An author of plugins has none of the plugins of pytest that are left out; to load them takes longer than the tests.
LEFT_OUT = ("cacheprovider", "schemathesis", "hypothesispytest", "textual-snapshot", "syrupy", "xdist")
OPTIONS = (*(f"-pno:{name}" for name in LEFT_OUT), "-oasyncio_mode=auto", "-opythonpath=.", "-Wignore")
HEAD = "import pytest\nfrom hermes_core.testing import *\n"


def contract_tests():
    classes = [getattr(hermes_core.testing, f"{name}Contract") for name in KINDS.values()]
    return {name for cls in classes for name in dir(cls) if name.startswith("test_")}


def test_every_contract_test_has_a_plugin_that_it_must_catch():
    assert contract_tests() == {variant.test for variant in broken.VARIANTS}


def test_every_contract_test_says_what_to_do_if_it_fails():
    for kind in KINDS.values():
        cls = getattr(hermes_core.testing, f"{kind}Contract")
        for name in (n for n in dir(cls) if n.startswith("test_")):
            promise, _, advice = (getattr(cls, name).__doc__ or "").partition("If this fails:")
            assert len(promise.strip()) > 20, name
            assert len(advice.strip()) > 20, name


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_broken_plugins_are_caught(pytester, kind):
    wanted = {}
    contract = [f"{HEAD}from hermes_core.testing import leftovers\nleftovers.PATIENCE = 0.1\n"]  # what is left stays
    for number, variant in enumerate(v for v in broken.VARIANTS if v.kind == kind):
        name = f"broken_{kind}_{number}"
        for file, text in variant.files(name).items():
            pytester.path.joinpath(file).write_text(text.replace("MODULE", name), encoding="utf-8")
        contract.append(variant.contract(name))
        wanted[f"Test_{name}"] = variant.test
    pytester.path.joinpath("test_broken.py").write_text("\n".join(contract), encoding="utf-8")
    chosen = [f"test_broken.py::{cls}::{test}" for cls, test in wanted.items()]
    output = pytester.runpytest_subprocess(*OPTIONS, "--junitxml=report.xml", "--tb=line", *chosen)
    for number in [*pytester.path.rglob("child"), *pytester.path.rglob("parent")]:  # broken backends end nothing
        with suppress(OSError, ValueError):
            os.kill(int(number.read_text()), signal.SIGKILL)
    caught = {}
    for case in ElementTree.parse(pytester.path / "report.xml").iter("testcase"):
        cls = case.get("classname", "").rpartition(".")[2]
        caught[cls] = caught.get(cls, False) or case.find("failure") is not None
    missed = {cls: test for cls, test in wanted.items() if not caught.get(cls)}
    assert not missed, output.stdout.str()


BENT = {
    "def test_it_offers_a_model(self): pass": "overrides test_it_offers_a_model",
    "test_usage_is_reported = None": "overrides test_usage_is_reported",
    "def test_mine(self): pass": "adds test_mine",
    "xfails = {'test_usage_is_reported': ''}": "no reason for test_usage_is_reported",
    "xfails = {'test_of_my_own': 'why'}": "test_of_my_own, which is no contract test",
}


@pytest.mark.long
def test_a_contract_class_cannot_be_bent(pytester):
    for number, body in enumerate(BENT):
        text = f"{HEAD}class TestBent{number}(ProviderContract):\n    module = 'x'\n    {body}\n"
        pytester.path.joinpath(f"test_bent_{number}.py").write_text(text, encoding="utf-8")
    result = pytester.runpytest_subprocess(*OPTIONS)
    told = result.stdout.str().split("ERROR collecting ")[1:]
    assert [f"TestBent{n} changes its contract" in one for n, one in enumerate(told)] == [True] * len(BENT), told
    assert [words for words, one in zip(BENT.values(), told, strict=True) if words not in one] == [], told
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_a_contract_class_may_say_what_it_cannot_keep_yet(pytester):
    variant = broken.provider("test_usage_is_reported", "yield UsageDelta", "UsageDelta")
    xfails = "{'test_usage_is_reported': 'not counted yet', 'test_it_offers_a_model': 'thought to be broken'}"
    for file, text in variant.files("uncounted").items():
        pytester.path.joinpath(file).write_text(text, encoding="utf-8")
    pytester.makepyfile(f"{HEAD}{variant.contract('uncounted')}    xfails = {xfails}\n")
    result = pytester.runpytest_subprocess(*OPTIONS, "-k", "usage or offers", "-rx")
    result.assert_outcomes(xfailed=1, failed=1)  # an excuse that is not needed is a failure
    assert "not counted yet" in result.stdout.str()


@pytest.mark.long
def test_a_plugin_may_only_do_what_its_manifest_discloses(pytester):
    contract = [HEAD]
    for number, (action, _) in enumerate(ACTIONS):
        variant = broken.provider("", "words = [", f"{action}\n        words = [")
        pytester.path.joinpath(f"sly_{number}.py").write_text(variant.files("x")["x.py"], encoding="utf-8")
        contract.append(f"class Test_{number}(ProviderContract):\n    module = 'sly_{number}'\n")
    pytester.makepyfile("\n".join(contract))
    result = pytester.runpytest_subprocess(*OPTIONS, "-k", "test_usage_is_reported")
    result.assert_outcomes(failed=len(ACTIONS))
    for _, words in ACTIONS:
        assert words in result.stdout.str()


ACTIONS = (
    ("import subprocess; subprocess.run(['true'])", "it starts true"),
    ("import contextlib, socket\n        with contextlib.suppress(OSError): socket.getaddrinfo('example.invalid', 1)",
     "it connects to example.invalid"),
    ("import contextlib\n        with contextlib.suppress(OSError): open('/nowhere/at all', 'w')",
     "it changes /nowhere/at all"),
)  # fmt: skip


def test_the_pytest_plugin_costs_nothing_until_it_is_used(pytester):
    pytester.makepyfile(
        "import sys\ndef test_it(): assert not [m for m in sys.modules if m.startswith('hermes_core.')"
        " and m not in ('hermes_core.testing', 'hermes_core.testing.pytest_plugin')]"
    )
    pytester.runpytest_subprocess(*OPTIONS).assert_outcomes(passed=1)


@pytest.mark.long
def test_the_fake_platform_keeps_the_contract_itself(pytester):
    variant = broken.platform("", "    pass")
    for file, text in variant.files("sound").items():
        pytester.path.joinpath(file).write_text(text, encoding="utf-8")
    pytester.makepyfile(f"{HEAD}{variant.contract('sound')}")
    result = pytester.runpytest_subprocess(*OPTIONS, "-k", "not light and not declares")
    result.assert_outcomes(passed=28, skipped=1, deselected=2)

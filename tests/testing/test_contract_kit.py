"""Every contract test catches a plugin that breaks its promise."""

import importlib.util
import sys
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

KINDS = ("provider", "tool", "backend", "platform", "memory")
HEAD = "import pytest\nfrom hermes_core.testing import *\n"


def contract_tests():
    classes = [getattr(hermes_core.testing, f"{kind.capitalize()}Contract") for kind in KINDS]
    return {name for cls in classes for name in dir(cls) if name.startswith("test_")}


def test_every_contract_test_has_a_plugin_that_it_must_catch():
    assert contract_tests() == {variant.test for variant in broken.VARIANTS}


def test_every_contract_test_says_what_to_do_if_it_fails():
    for kind in KINDS:
        cls = getattr(hermes_core.testing, f"{kind.capitalize()}Contract")
        for name in (n for n in dir(cls) if n.startswith("test_")):
            promise, _, advice = (getattr(cls, name).__doc__ or "").partition("If this fails:")
            assert len(promise.strip()) > 20, name
            assert len(advice.strip()) > 20, name


@pytest.mark.parametrize("kind", KINDS)
def test_broken_plugins_are_caught(pytester, kind):
    wanted = {}
    contract = [HEAD]
    for number, variant in enumerate(v for v in broken.VARIANTS if v.kind == kind):
        name = f"broken_{kind}_{number}"
        for file, text in variant.files(name).items():
            pytester.path.joinpath(file).write_text(text.replace("MODULE", name), encoding="utf-8")
        contract.append(variant.contract(name))
        wanted[f"Test_{name}"] = variant.test
    pytester.path.joinpath("test_broken.py").write_text("\n".join(contract), encoding="utf-8")
    chosen = [f"test_broken.py::{cls}::{test}" for cls, test in wanted.items()]
    options = ["-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-o", "pythonpath=.", "--junitxml=report.xml", "--tb=line"]
    output = pytester.runpytest_subprocess(*options, *chosen)
    caught = {}
    import os, shutil
    if os.environ.get("KEEP"):
        shutil.copytree(pytester.path, os.environ["KEEP"] + kind, dirs_exist_ok=True)
    for case in ElementTree.parse(pytester.path / "report.xml").iter("testcase"):
        cls = case.get("classname", "").rpartition(".")[2]
        caught[cls] = caught.get(cls, False) or case.find("failure") is not None
    missed = {cls: test for cls, test in wanted.items() if not caught.get(cls)}
    assert not missed, output.stdout.str()

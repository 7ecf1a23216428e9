"""The page of the contract tests: what each promises and what to do if it fails."""

import re

from hermes_core import testing
from hermes_reference.markdown import code, joined, table
from hermes_reference.source import class_node, decorators, doc, fields_of, methods_of

CLASSES = tuple(n for n in testing.__all__ if n.endswith("Contract"))


def page() -> str:
    """Every contract class with its fixtures and tests."""
    first = ["PluginContract", *(n for n in CLASSES if n != "PluginContract")]
    return joined(
        "# Contract tests",
        "Inherit the class of your kind, name your module, and pytest runs all of them. A contract test is never "
        "overridden or deleted. What a plugin cannot keep yet it says aloud: "
        '`xfails = {"test_name": "the reason"}`. Own tests go into a class of their own.',
        *(_class(name) for name in first),
    )


def _class(name: str) -> str:
    cls = getattr(testing, name)
    methods = list(methods_of(cls))
    fixtures = [(code(n), doc(node)) for n, node in methods if "pytest.fixture" in decorators(node)]
    base = class_node(cls)[0].bases
    above = "" if name == "PluginContract" or not base else "Also all tests of [PluginContract](#plugincontract)."
    parts = [f"## {name}", doc(cls), above]
    if attributes := [(code(f.name), code(f.default), f.comment) for f in fields_of(cls)]:
        parts += ["What you may set:", table(("attribute", "default", "meaning"), attributes)]
    if fixtures:
        parts += ["Fixtures you may give:", table(("fixture", "what it gives"), fixtures)]
    parts += [_test(n, node) for n, node in methods if n.startswith("test_")]
    return joined(*parts)


def _test(name: str, node: object) -> str:
    promise, _, rest = doc(node).partition("\n\nIf this fails:")
    advice = f"**If this fails:**{rest}" if rest else ""
    return joined(f"### {sentence(name)}", code(name), promise, advice)


def sentence(name: str) -> str:
    """A test's name as the sentence it is."""
    words = re.sub(r"^test_", "", name).replace("_", " ")
    return words[0].upper() + words[1:]

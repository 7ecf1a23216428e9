"""What is refused before anybody is asked and before anything runs, and what a model is told of it."""

import ast
import json
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.agent.arguments import parse_arguments, tool_spec
from hermes_core.errors import ToolError
from hermes_tool_workshop.draft import CODE, draft_of, read_code
from hermes_tool_workshop.offer import Example, Write
from hermes_tool_workshop.permissions import Permissions, forbidden
from hermes_tool_workshop.shape import fits, full_name, read_shape

HOME = Path("/home/someone/.hermes")
GOOD = 'def f(text: str) -> str:\n    """Say it again, as it was."""\n    return text\n'


def problems(code: str = GOOD, **more: Any) -> list[str]:
    given = {"name": "again", "code": code, "examples": [Example(arguments={"text": "a"})], **more}
    try:
        draft_of(Write(**given), HOME, 120)
    except ToolError as error:
        return [line.removeprefix("- ") for line in error.text.splitlines()[1:]]
    return []


def body(text: str, *, head: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    return f'{head}def f(text: str) -> str:\n    """Say it again, as it was."""\n{lines}\n    return text\n'


def test_good_code_has_nothing_wrong():
    assert problems() == []


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/b",
        "",
        "x",
        "X",
        "own_",
        "own_..",
        "Café",
        "ｘｙ",
        "a b",
        "a-b",
        "1a",
        "con.",
        "a" * 41,
        "class",
        "a\n",
        "~root",
        "%2e",
        "versions",
        "own_rollback",
    ],
)
def test_a_name_is_plain_or_refused(name):
    assert any("cannot be the name of a tool" in p for p in problems(name=name))


@pytest.mark.parametrize("name", ["con", "nul", "own_count", "x2", "a" * 40])
def test_a_plain_name_gets_its_prefix_once(name):
    assert full_name(name) == f"own_{name.removeprefix('own_')}"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def f(:", "line 1: "),
        ("", "exactly one function whose name does not begin with _; there is: none"),
        (GOOD + GOOD.replace("def f", "def g"), "there is: f (line 1), g (line 4)"),
        (GOOD.replace("def", "async def"), "line 1: write a plain def"),
        (GOOD.replace("text: str", "text"), "line 1: the argument text needs a type"),
        (GOOD.replace("text: str", "text: bytes"), "line 1: 'bytes' cannot be told to you as JSON"),
        (GOOD.replace("text: str", "*text: str"), "no *args, **kwargs or /"),
        (GOOD.replace("text: str", "text: str, n: int = 'a'"), "the default of n is not of its type"),
        (GOOD.replace("text: str", "text: str, n: int = len('a')"), "must be a plain value, not computed"),
        (GOOD.replace("text: str", "text: str, _n: int = 1"), "needs a name of a-z"),
        (GOOD.replace('"""Say it again, as it was."""', "pass"), "needs a docstring that says what it does; you"),
        (GOOD.replace("Say it again, as it was.", "Echo."), "docstring of 5 characters is too short, 10 are the least"),
        (GOOD.replace("Say it", "x" * 2001), "2,000 is the most"),
        (GOOD.replace("return text", "yield text"), "must return its result"),
        ("print('hi')\n" + GOOD, "line 1: outside of functions, only imports"),
        ("@staticmethod\n" + GOOD, "takes no decorators"),
        (GOOD + "x = '\u202e'\n", "line 4: the character U+202E cannot be seen"),
        (GOOD + "\0", "line 4: the character U+0000"),
        ("return 1\n" + GOOD, "line 1: "),
        (GOOD + "x = " + "(" * 5000, "line 4: too many nested parentheses"),
        (GOOD + "x = " + "-" * 30_000 + "1", "nested too deeply"),
        (GOOD + "# " + "x" * CODE, "40,000 and 1,000 are the most"),
        (GOOD + "\n" * 1100 + "x = 1", "are the most"),
    ],
)
def test_code_that_cannot_be_a_tool_is_told_with_its_line(code, said):
    assert any(said in p for p in problems(code)), problems(code)


TRICKS = {
    "import ctypes": "line 3: the module ctypes may not be used",
    "import os, gc": "the module gc may not be used",
    "from importlib import import_module": "the module importlib may not be used",
    "import _socket": "the module _socket may not be used",
    "import pickle": "the module pickle may not be used",
    "from os import *": "import * only allowed at module level",
    "from . import x": "there is no package around the tool",
    "import numpy": "numpy is not in the standard library: declare it in packages",
    "import hermes_core": "the module hermes_core may not be used",
    "import socket": "uses the network: declare the hosts",
    "import http.client": "uses the network: declare the hosts",
    "from urllib import request": "uses the network: declare the hosts",
    "import urllib.request as u": "uses the network: declare the hosts",
    "import http.server": "waits for connections",
    "import subprocess": "starts programs: declare which",
    "import os\nos.system('id')": "line 4: os.system starts programs: declare which",
    "from os import system as s": "os.system starts programs: declare which",
    "import os\nos.environ['X']": "the environment is empty",
    "from os import getenv": "the environment is empty",
    "import os\nos._exit(0)": "_exit reaches for the end of its process",
    "eval('1')": "line 3: eval may not be used by a tool: it runs computed text",
    "e = exec": "exec may not be used",
    "ｅval('1')": "eval may not be used",
    "compile('1', '', 'eval')": "compile may not be used",
    "__import__('os')": "__import__ may not be used",
    "__builtins__": "__builtins__ may not be used",
    "globals()['x']": "globals may not be used",
    "().__class__": "the attribute __class__ reaches behind the code",
    "''.__class__.__mro__[1].__subclasses__()": "__subclasses__ reaches behind the code",
    "f.__globals__": "__globals__ reaches behind the code",
    "f.__code__": "__code__ reaches behind the code",
    "getattr(text, 'x' + text)": "getattr needs the attribute's name as plain text",
    "getattr(text, '__class__')": "__class__ reaches behind the code",
    "import sys\nsys.modules['os']": "sys.modules may not be used",
    "import sys\nsys._getframe(1).f_back": "f_back reaches for frames",
    "import operator\noperator.attrgetter('__class__')": "attrgetter reaches for attributes named by text",
    "from operator import methodcaller": "methodcaller reaches for attributes named by text",
    "import types\ntypes.FunctionType": "FunctionType reaches for code objects",
    "open('x')": "open needs the file or folder in reads or writes",
    "o = open": "open needs the file or folder",
    "import io\nio.open('x')": "io.open needs the file or folder",
    "import pathlib\npathlib.Path('x').read_text()": "read_text reads files: declare them in reads",
    "import shutil\nshutil.rmtree('x')": "rmtree changes files: declare them in writes",
    "import sqlite3": "sqlite3 opens files",
    "import asyncio\nasyncio.create_subprocess_exec('id')": "starts programs",
    "import os\nos.fork()": "fork reaches for processes of its own",
    "import os\nos.kill(1, 9)": "kill reaches for other processes",
}


@pytest.mark.parametrize("code", TRICKS)
def test_what_is_reached_for_and_not_declared_is_told_with_its_line(code):
    assert any(TRICKS[code] in p for p in problems(body(code))), problems(body(code))


def test_importing_everything_is_told():
    assert any("import the names you use from os, not *" in p for p in problems("from os import *\n" + GOOD))


def test_what_is_declared_is_not_told():
    assert problems(body("import socket, ssl, http.client"), hosts=["example.org"]) == []
    assert problems(body("import subprocess"), programs=["git"]) == []
    assert problems(body("open('x').read()"), reads=["."]) == []
    assert problems(body("open('x', 'w')"), writes=["."]) == []
    assert problems(body("import numpy as np"), packages=["numpy"]) == []


def test_reading_is_not_changing():
    assert any("open for writing needs" in p for p in problems(body("open('x', mode='a')"), reads=["."]))
    assert any(
        "write_text changes files" in p
        for p in problems(body("import pathlib\npathlib.Path('x').write_text('')"), reads=["."])
    )


@pytest.mark.parametrize(
    ("permissions", "said"),
    [
        ({"hosts": ["*.example.org"]}, "is not the name or number of one host"),
        ({"hosts": ["http://example.org"]}, "is not the name"),
        ({"hosts": [""]}, "is not the name"),
        ({"programs": ["/bin/sh"]}, "is not the name of a program"),
        ({"programs": ["sh -c id"]}, "is not the name of a program"),
        ({"reads": ["/"]}, "is too much"),
        ({"reads": ["~"]}, "is too much"),
        ({"reads": ["//"]}, "is too much"),
        ({"writes": ["/etc/"]}, "is too much"),
        ({"reads": ["../x"]}, "leads up"),
        ({"reads": ["a/../../x"]}, "leads up"),
        ({"reads": ["~/.ssh"]}, "reaches what guards Hermes or holds secrets"),
        ({"reads": ["~/.ssh/id_rsa"]}, "reaches what guards"),
        ({"reads": ["~/.aws/credentials"]}, "reaches what guards"),
        ({"reads": ["/proc/self"]}, "reaches what guards"),
        ({"writes": [f"{HOME}/data/tool-workshop"]}, "reaches what guards"),
        ({"writes": [str(HOME.parent)]}, "reaches what guards"),
        ({"reads": ["~root/x"]}, "somebody else's home"),
        ({"reads": ["*.py"]}, "is not one plain path"),
        ({"reads": ["a\nb"]}, "is not one plain path"),
        ({"packages": ["os.path"]}, "is not the name of an importable package"),
        ({"packages": ["numpy"]}, "declared and never imported"),
        ({"hosts": [f"h{n}.org" for n in range(21)]}, "20 is the most"),
        ({"seconds": 121}, "is more than the 120"),
    ],
)
def test_permissions_name_what_they_mean_and_never_too_much(permissions, said):
    assert any(said in p for p in problems(**permissions)), problems(**permissions)


def test_a_link_to_what_is_closed_is_closed(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    assert "guards Hermes" in forbidden(str(tmp_path / "link" / "x"), tmp_path / "home")


def test_examples_are_needed_and_fit():
    assert any("at least one call is needed" in p for p in problems(examples=[]))
    wrong = [Example(arguments={"texd": "a"}), Example(arguments={"text": 1})]
    assert [p for p in problems(examples=wrong) if "examples" in p] == [
        "examples[0].arguments: f takes no 'texd'; did you mean text?",
        "examples[0].arguments: text is missing",
        "examples[1].arguments.text: not of its type",
    ]


def test_every_problem_is_told_at_once_and_no_more_than_can_be_read():
    found = problems(body("\n".join("eval('1')" for _ in range(50))), name="../x", seconds=999)
    assert "cannot be the name" in found[0]
    assert "seconds" in found[1]
    assert len(found) == 16
    assert "more" in found[-1]


def test_the_code_of_the_workshop_itself_reads_as_what_it_is():
    from hermes_tool_workshop import calls

    text = Path(calls.__file__).with_name("supervisor.py").read_text()
    assert len(text.encode()) < 100_000  # it travels as one argument
    _, found = read_code(text, Permissions())
    assert any("ctypes" in p for p in found)


# --- any annotation that is understood becomes a schema that the kernel holds calls to ----------------------------

SCALARS = {"str": st.text(max_size=8), "int": st.integers(), "bool": st.booleans()}
SCALARS |= {"float": st.floats(allow_nan=False, allow_infinity=False)}


def literal(values: list[Any]) -> tuple[str, Any]:
    return f"Literal[{', '.join(map(repr, values))}]", st.sampled_from(values)


KINDS = st.recursive(
    st.sampled_from([(name, values) for name, values in SCALARS.items()])
    | st.lists(st.text(max_size=5) | st.integers(), min_size=1, max_size=4, unique_by=repr).map(literal),
    lambda inner: (
        inner.map(lambda k: (f"list[{k[0]}]", st.lists(k[1], max_size=3)))
        | inner.map(lambda k: (f"dict[str, {k[0]}]", st.dictionaries(st.text(max_size=4), k[1], max_size=3)))
        | inner.map(lambda k: (f"{k[0]} | None", st.none() | k[1]))
        | inner.map(lambda k: (f"Optional[{k[0]}]", st.none() | k[1]))
    ),
    max_leaves=3,
)


@given(kind=KINDS, data=st.data())
def test_what_a_type_allows_passes_and_keeps_its_value(kind: tuple[str, Any], data: Any) -> None:
    annotation, values = kind
    value = data.draw(values)
    tree = ast.parse(f'def f(value: {annotation}):\n    """Take a value of some type."""\n')
    shape, wrong = read_shape(tree)
    if shape is None:
        assert "nested more than" in wrong[0]
        return
    from hermes_core.kinds import Tool

    tool = Tool(name="own_f", description="", schema=shape.schema(), run=None)  # type: ignore[arg-type]
    json.dumps(shape.schema())
    assert fits(shape.arguments[0].kind, value)
    given = parse_arguments(tool, {"value": json.loads(json.dumps(value))})
    assert shape.filled(given) == {"value": value}
    assert tool_spec(tool).schema["required"] == ["value"]


JSONS = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda i: st.lists(i, max_size=3) | st.dictionaries(st.text(max_size=3), i, max_size=3), max_leaves=5)  # fmt: skip  # noqa: E501


@given(kind=KINDS, value=JSONS)
def test_a_default_that_fits_is_one_the_kernel_would_take(kind: tuple[str, Any], value: Any) -> None:
    tree = ast.parse(f'def f(value: {kind[0]} = {value!r}):\n    """Take a value of some type."""\n')
    shape, wrong = read_shape(tree)
    if shape is None:
        assert "is not of its type" in wrong[0] or "nested more than" in wrong[0]
        return
    from hermes_core.kinds import Tool

    tool = Tool(name="own_f", description="", schema=shape.schema(), run=None)  # type: ignore[arg-type]
    json.dumps(shape.schema())
    one, two = shape.filled({}), shape.filled({})
    assert one == {"value": value}
    assert parse_arguments(tool, {"value": value}) == {"value": value}
    if isinstance(value, list | dict) and value:
        assert one["value"] is not two["value"], "no call may change the default of the next one"


@given(st.text(max_size=300))
def test_whatever_text_is_code_or_is_told(text: str) -> None:
    shape, wrong = read_code(text, Permissions())
    assert (shape is None) or isinstance(wrong, list)
    assert shape is not None or wrong


def test_an_annotated_argument_is_told_with_its_words():
    code = GOOD.replace("text: str", "text: Annotated[str, 'what to say'], how: Literal['loud', 'low'] = 'low'")
    shape, wrong = read_code(code, Permissions())
    assert not wrong
    assert shape is not None
    schema = shape.schema()
    assert schema["properties"]["text"] == {"type": "string", "description": "what to say"}
    assert schema["properties"]["how"] == {"type": "string", "enum": ["loud", "low"], "default": "low"}
    assert get_args(Literal["loud", "low"]) == ("loud", "low")

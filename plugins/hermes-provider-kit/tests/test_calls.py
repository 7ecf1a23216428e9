"""Calls that a model wrote wrong: what can be meant one way only is put right, and nothing else is changed."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.types import ToolSpec
from hermes_provider_kit.calls import mended

STRING, NUMBER, WHOLE, YES = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}
TOOLS = (
    ToolSpec(
        name="read_file",
        description="",
        schema={"type": "object", "properties": {"path": STRING, "offset": WHOLE, "limit": WHOLE, "raw": YES}},
    ),
    ToolSpec(
        name="write_file",
        description="",
        schema={"type": "object", "properties": {"path": STRING, "content": STRING, "mode": WHOLE}},
    ),
    ToolSpec(
        name="terminal",
        description="",
        schema={
            "type": "object",
            "properties": {
                "command": STRING,
                "timeout": NUMBER,
                "background": YES,
                "env": {"type": "object", "additionalProperties": STRING},
                "how": {"type": "string", "enum": ["run-once", "keep", "ask"]},
            },
        },
    ),
    ToolSpec(
        name="mcp__git__log",
        description="",
        schema={
            "type": "object",
            "properties": {
                "maxCount": WHOLE,
                "paths": {"type": "array", "items": STRING},
                "range": {"type": "object", "properties": {"from": WHOLE, "to": {"anyOf": [WHOLE, {"type": "null"}]}}},
            },
        },
    ),
)
WORDS = [
    *("ls -la", "echo 'hi'", 'grep "x" a.txt', "a/b/c.py", "C:\\temp\\new", "line one\nline two\n", "naïve Ω 漢字 😀"),
    *(
        "",
        " ",
        "{}",
        "{'a': 1}",
        "[1, 2]",
        "true",
        "None",
        "12",
        "a, b",
        "x: y",
        "# no comment",
        "// nor this",
        "<b>hi</b>",
    ),
    *("f(a=1)", "don't", "tab\there", "```sh\nls\n```", "end\\", "key=value", "}", '"', "'", "`x`"),
]
MUTATIONS = 4000  # of each run; the long one makes 20,000


def made(dice):
    """A call as it should be."""
    spec = dice.choice(TOOLS)
    known = spec.schema["properties"]
    names = dice.sample(sorted(known), dice.randint(1, len(known)))
    return spec, {name: value(dice, known[name]) for name in names}


def value(dice, row):
    if "enum" in row:
        return dice.choice(row["enum"])
    kind = dice.choice(row["anyOf"])["type"] if "anyOf" in row else row["type"]
    if kind == "array":
        return [value(dice, row["items"]) for _ in range(dice.randint(0, 3))]
    if kind == "object":
        inner = row.get("properties") or {"PATH": STRING, "x-y": STRING}
        return {name: value(dice, one) for name, one in inner.items() if dice.random() < 0.8}
    simple = {"string": dice.choice(WORDS), "integer": dice.randint(-9, 10**6), "boolean": dice.random() < 0.5}
    return {**simple, "number": dice.choice([0.5, 30, 1e-3]), "null": None}[kind]


# --- what has one reading ---------------------------------------------------------------------------------------------


def python(dice, spec, given):
    return spec.name, repr(given)


def fenced(dice, spec, given):
    return spec.name, f"```{dice.choice(['json', ''])}\n{json.dumps(given, indent=dice.choice([None, 2]))}\n```"


def comma_at_the_end(dice, spec, given):
    return spec.name, json.dumps(given)[:-1] + dice.choice([",}", " , }", ",\n}"])


def open_at_the_end(dice, spec, given):
    text = json.dumps(given)
    cut = text.rstrip("}")
    return spec.name, cut if cut[-1] in '"le]' and not cut.endswith(': "') and text.count("{") <= 2 else text


def closed_twice(dice, spec, given):
    return spec.name, json.dumps(given) + dice.choice(["}", "]}", "\n}", "</tool_call>", ";", "<|im_end|>"])


def raw_lines(dice, spec, given):
    return spec.name, json.dumps(given, ensure_ascii=False).replace("\\n", "\n").replace("\\t", "\t") if not any(
        "\\" in one for one in texts(given)
    ) else json.dumps(given)


def words_as_keys(dice, spec, given):
    return spec.name, re.sub(r'"(path|content|command|timeout|maxCount)": ', r"\1: ", json.dumps(given)) if not any(
        '"' in one for one in texts(given)
    ) else json.dumps(given)


def twice_encoded(dice, spec, given):
    return spec.name, json.dumps(json.dumps(given))


def values_as_text(dice, spec, given):
    known = spec.schema["properties"]
    told = {n: v if "string" in str(known[n]) else json.dumps(v) for n, v in given.items()}
    return spec.name, json.dumps(told)


def within_a_call(dice, spec, given):
    inner = dice.choice(["arguments", "parameters"])
    return spec.name, json.dumps({"name": spec.name, inner: dice.choice([given, json.dumps(given)])})


def other_letters(dice, spec, given):
    name = dice.choice([spec.name.upper(), spec.name.title(), spec.name.replace("_", "-"), spec.name.replace("_", "")])
    name = dice.choice([name, f"functions.{name}", f"{name}()", f"{name}<|channel|>commentary", f" {name} "])
    return name, json.dumps(given)


def other_keys(dice, spec, given):
    def odd(name):
        parts = re.split("_", re.sub(r"([A-Z])", r"_\1", name).lower())
        return dice.choice(["_".join(parts), "-".join(parts), "".join(map(str.title, parts)), name.upper()])

    return spec.name, json.dumps({odd(name): one for name, one in given.items()})


def tagged(dice, spec, given):
    def text(one):
        return one if isinstance(one, str) else json.dumps(one)

    if any("<" in one or one.strip() != one for one in texts(given)) or any(
        isinstance(v, dict) for v in given.values()
    ):
        return spec.name, json.dumps(given)
    body = "\n".join(f"<parameter={name}>\n{text(one)}\n</parameter>" for name, one in given.items())
    return spec.name, dice.choice([body, f"<function={spec.name}>\n{body}\n</function>"])


def called(dice, spec, given):
    return spec.name, f"{spec.name}({', '.join(f'{name}={one!r}' for name, one in given.items())})"


def commented(dice, spec, given):
    return spec.name, "{ // what is asked\n" + json.dumps(given)[1:-1] + " /* all */ }"


REPAIRABLE = [
    *(python, fenced, comma_at_the_end, open_at_the_end, closed_twice, raw_lines, words_as_keys, twice_encoded),
    *(values_as_text, within_a_call, other_letters, other_keys, tagged, called, commented),
]

# --- what has two, or none --------------------------------------------------------------------------------------------


def cut_anywhere(dice, spec, given):
    text = json.dumps(given)
    return spec.name, text[: dice.randrange(1, len(text))]


def quotes_within(dice, spec, given):
    inner = dice.choice(['say "yes" now', 'a "b', '"x" y', 'print("hi")'])
    return spec.name, '{"command": "' + inner + '"}'


def two_values(dice, spec, given):
    return spec.name, '{"path": "a", "path": "b",}'


def two_calls(dice, spec, given):
    return spec.name, json.dumps({**given, "path": "a"}) + json.dumps({**given, "path": "b"})


def prose(dice, spec, given):
    return spec.name, dice.choice(["I would call it with ", "Sure: "]) + json.dumps(given) + " if you agree"


def template(dice, spec, given):
    return spec.name, '{"command": `rm ${folder}`}'


UNSURE = [cut_anywhere, quotes_within, two_values, two_calls, prose, template]


def texts(found):
    if isinstance(found, str):
        yield found
    for one in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from texts(one)


def judged(seed, count):
    """How many were put right, and those that were taken for something else."""
    dice = random.Random(seed)
    right, wrong, left = 0, [], []
    for _ in range(count):
        spec, given = made(dice)
        how = dice.choice(REPAIRABLE)
        name, arguments = how(dice, spec, given)
        back = mended(name, arguments, TOOLS)
        try:
            read = json.loads(back[1])
        except ValueError:
            left.append((how.__name__, arguments))
            continue
        if (back[0], read) == (spec.name, given):
            right += 1
        elif isinstance(read, dict):
            wrong.append((how.__name__, name, arguments, back))
        else:
            left.append((how.__name__, arguments))
    return right, wrong, left


@pytest.mark.parametrize("seed", range(2))
def test_what_can_be_meant_one_way_is_put_right(seed):
    right, wrong, left = judged(seed, MUTATIONS // 2)
    assert wrong == []
    assert right >= MUTATIONS // 2 * 0.99, left[:5]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 15))
def test_of_many_more_none_is_taken_for_another(seed):
    right, wrong, left = judged(seed, MUTATIONS)
    assert wrong == []
    assert right >= MUTATIONS * 0.99, left[:5]


@pytest.mark.parametrize("seed", range(2))
def test_what_can_be_meant_two_ways_is_left_to_be_refused(seed):
    dice = random.Random(seed)
    for _ in range(MUTATIONS // 4):
        spec, given = made(dice)
        how = dice.choice(UNSURE)
        name, arguments = how(dice, spec, given)
        _, back = mended(name, arguments, TOOLS, cut=how is cut_anywhere)
        try:
            read = json.loads(back)
        except ValueError:
            continue
        assert read == given or back == arguments, (how.__name__, arguments, back)


@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_comes_nothing_breaks(name, arguments):
    back = mended(name, arguments, TOOLS)
    assert all(isinstance(one, str) for one in back)
    if back[1] != arguments:
        assert isinstance(json.loads(back[1]), dict)


@given(st.sampled_from(TOOLS), st.dictionaries(st.sampled_from(["path", "command", "x"]), st.text(max_size=9)))
def test_what_is_right_is_never_touched(spec, given):
    arguments = json.dumps(given)
    assert mended(spec.name, arguments, TOOLS) == (spec.name, arguments)


@pytest.mark.parametrize("name", ["reed_file", "file", "", "read_file_2", "日本"])
def test_a_name_that_only_looks_like_one_is_left(name):
    assert mended(name, '{"path": "a"}', TOOLS)[0] == name


def test_a_name_that_may_be_two_is_left():
    both = (*TOOLS, ToolSpec(name="readFile", description="", schema={"type": "object"}))
    assert mended("ReadFile", "{}", both)[0] == "ReadFile"


def test_depth_without_an_end_is_left():
    deep = '{"a":' * 5000
    assert mended("terminal", deep, TOOLS) == ("terminal", deep)


@pytest.mark.parametrize(
    "arguments",
    [
        "<function=terminal><parameter=command>ls</parameter></function><function=terminal><parameter=timeout>5</parameter>",
        "<parameter=command>ls</parameter></function><parameter=timeout>5</parameter>",
        "<function=write_file><parameter=command>ls</parameter></function>",
        'write_file(command="ls")',
        '{"command": 3.10}',
        "{'command': +4912}",
        r"""{"command": "echo 'it'\''s'"}""",
    ],
)
def test_another_call_another_number_and_another_quote_are_not_made_of_it(arguments):
    assert mended("terminal", arguments, TOOLS) == ("terminal", arguments)


def test_calls_of_the_tool_itself_are_read_by_its_other_spellings():
    for arguments in (
        'functions.Terminal(command="ls");',
        "<function=functions.terminal><parameter=command>ls</parameter>",
    ):
        assert json.loads(mended("terminal", arguments, TOOLS)[1]) == {"command": "ls"}


@pytest.mark.parametrize(
    "arguments",
    [
        *("{}" + " " * 200_000 + "x", " " * 200_000 + "x", "f()" + " " * 200_000 + "x", "```" + "\n" * 200_000 + "x"),
        *("<parameter=a>" * 40_000, "<parameter=a>1</parameter>" + "<function" * 40_000, "{}" + "<|a|>" * 60 + "x"),
        *("<function" * 40_000 + "<parameter=a>1</parameter>", "{}" * 40_000 + "x"),
    ],
    ids=lambda arguments: arguments[:20].strip(),
)
def test_what_is_repeated_without_end_is_read_in_one_go(arguments):
    """One of these took minutes, with everybody else in the process waiting: the suite's own limit ends such a test."""
    assert mended("terminal", arguments, TOOLS) == ("terminal", arguments)

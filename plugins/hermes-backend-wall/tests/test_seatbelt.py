"""The profile for macOS, as far as its text can be judged."""

import re

from hypothesis import given
from hypothesis import strategies as st

from hermes_backend_wall.bounds import Bounds
from hermes_backend_wall.seatbelt import profile

HOME = "/Users/ann"


def bounds(**changed):
    return Bounds(
        **{
            "folder": f"{HOME}/work",
            "source": f"{HOME}/work",
            "home": "/private/cache/home",
            "scratch": "/private/tmp/x",
            "person": HOME,
            **changed,
        }
    )


def parsed(text):
    """The expressions, as nested lists. Raises ValueError for what is not balanced."""
    stack = [[]]
    for word in re.findall(r'"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+', text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    (whole,) = stack
    return whole


def test_all_is_closed_first_and_writing_is_for_three_folders():
    rules = parsed(profile(bounds()))
    assert rules[:2] == [["version", "1"], ["deny", "default"]]
    (writing,) = [rule for rule in rules if rule[:2] == ["allow", "file-write*"]]
    assert [path for _, path in writing[2:]] == ['"/Users/ann/work"', '"/private/cache/home"', '"/private/tmp/x"']
    reading = [rule for rule in rules if rule[:2] == ["allow", "file-read*"]]
    assert not [path for rule in reading for _, path in rule[2:] if f"{HOME}/".startswith(f"{path[1:-1]}/")]


def test_what_is_fixed_or_hidden_is_denied_after_it_was_allowed():
    text = profile(bounds(fixed=[f"{HOME}/work/.git/hooks"], hidden=[f"{HOME}/work/.hermes"]))
    assert text.index("(allow file-write* ") < text.index("(deny file-read* file-write* ") < text.index(".git/hooks")


def test_the_network_is_closed_but_for_the_door():
    assert "network" not in profile(bounds())
    last = parsed(profile(bounds(), door=8080))[-1]
    assert last == [
        "allow",
        "network-outbound",
        ["remote", "ip", '"localhost:8080"'],
    ]


@given(st.text(min_size=1).filter(lambda name: "\0" not in name))
def test_no_name_of_a_folder_ends_a_rule(name):
    plain, odd = (len(parsed(profile(bounds(source=f"/x/{it}")))) for it in ("plain", name))
    assert plain == odd

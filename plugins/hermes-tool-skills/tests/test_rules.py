"""Every rule finds what it is for, and leaves alone what only looks like it."""

from random import Random
from re import _constants as constants
from re import _parser as parser

import pytest

from hermes_tool_skills.scan import scan_text
from hermes_tool_skills.scan.rules import CATEGORIES, load_rules
from hermes_tool_skills.scan.text import flowing, plain

RULES = load_rules()


def test_each_rule_matches_its_hits_and_not_its_misses() -> None:
    assert [rule.id for rule in RULES if not rule.hit or not rule.miss] == []
    wanted = [
        (rule, line, hits) for rule in RULES for hits in (True, False) for line in (rule.hit if hits else rule.miss)
    ]
    wrong = [(r, line) for r, line, hits in wanted if bool(r.search(plain(line), flowing(plain(line)))) is not hits]
    assert [(rule.id, line) for rule, line in wrong] == []


def test_every_rule_has_an_id_of_its_own_in_a_known_category() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert {rule.id.partition("-")[0] for rule in RULES} == set(CATEGORIES)
    assert {rule.level for rule in RULES} == {"note", "caution", "dangerous"}


def repeats(parsed) -> list[int]:
    """How often each repeated part of a pattern may stand at most."""
    found = []
    for kind, value in parsed:
        if kind in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
            found.append(value[1])
        stack = [value]
        while stack:
            one = stack.pop()
            if isinstance(one, parser.SubPattern):
                found += repeats(one)
            elif isinstance(one, list | tuple):
                stack += one
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_work_of_a_rule_is_bounded_at_each_place_of_a_text(rule) -> None:
    """So the work over a text grows as the text does: no part of a pattern may be repeated without an end."""
    assert max(repeats(parser.parse(rule.pattern.pattern, rule.pattern.flags)), default=0) <= 4000


SOUP = Random(7)
PIECES = ("https://a?b=", "http://x.y/", "send ", "open( ", "~/.ssh ", "and ", "the user ", "curl ", "x")
LONG = {
    **{
        f"{piece!r} again and again": piece * (200_000 // len(piece))
        for piece in (*"xX7 \n\t.-_/\\`'\"()[]{}<>|&;:=@#*!%$é中", "x\n", "x ", "a.", "<!--", "$(", *PIECES)
    },
    "arrows": "".join(SOUP.choices(">>>>> a", k=200_000)),
    "letters": "".join(SOUP.choices("xyzXY019_", k=200_000)),
    "ends of lines": "".join(SOUP.choices("\n\n\n x", k=200_000)),
    "beginnings of what is forbidden": "".join(SOUP.choices(PIECES, k=25_000)),
}


@pytest.mark.long
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_text_is_looked_at_to_its_end(text: str) -> None:
    """What grew with the square of a text would take hours here, and the bound of every test is a minute."""
    assert isinstance(scan_text(text, "SKILL.md"), tuple)

"""Every rule finds what it is for, and leaves alone what only looks like it."""

import pytest

from hermes_tool_skills.scan.rules import CATEGORIES, load_rules
from hermes_tool_skills.scan.text import flowing, plain

RULES = load_rules()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_matches_its_hits_and_not_its_misses(rule) -> None:
    assert rule.hit
    assert rule.miss
    for line in rule.hit:
        assert rule.search(plain(line), flowing(plain(line))), line
    for line in rule.miss:
        assert not rule.search(plain(line), flowing(plain(line))), line


def test_every_rule_has_an_id_of_its_own_in_a_known_category() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert {rule.id.partition("-")[0] for rule in RULES} == set(CATEGORIES)
    assert {rule.level for rule in RULES} == {"note", "caution", "dangerous"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_comes_to_an_end_on_long_lines(rule) -> None:
    """No pattern takes more than linear patience: what is repeated without an end is bounded."""
    for piece in ("a", " ", "curl ", "cat .env ", "<!-- you ", "$(", "![x](http://a?b=", "send all "):
        text = piece * (20_000 // len(piece))
        rule.search(text, text)

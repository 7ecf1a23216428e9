"""Every rule finds what it is for, and leaves alone what only looks like it."""

import pytest

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


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_comes_to_an_end_on_long_lines(rule) -> None:
    """No pattern takes more than linear patience: what is repeated without an end is bounded."""
    for piece in ("a", " ", "curl ", "cat .env ", "<!-- you ", "$(", "![x](http://a?b=", "send all "):
        text = piece * (20_000 // len(piece))
        rule.search(text, text)

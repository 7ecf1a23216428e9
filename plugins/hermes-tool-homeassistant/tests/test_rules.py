"""Which changes a rule is for."""

import math

from hypothesis import given
from hypothesis import strategies as st

from hermes_core.config.settings import structure
from hermes_tool_homeassistant.config import Config, RuleSettings
from hermes_tool_homeassistant.rules import GONE, Change, fits

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)


def rule(**more):
    return RuleSettings(entities=["binary_sensor.*", "sensor.warmth"], say="Look.", **more)


def test_a_rule_is_for_its_entities_and_for_its_states():
    def change(before, after, entity="binary_sensor.door"):
        return Change(entity, before, after, "now")

    assert fits(rule(), change("off", "on"))
    assert fits(rule(to="on", was="off"), change("off", "on"))
    assert not fits(rule(to="on"), change("on", "off"))
    assert not fits(rule(was="on"), change("off", "on"))
    assert not fits(rule(), change("off", "on", "light.x"))
    assert not fits(rule(), change("on", "on"))


def test_what_cannot_be_reached_did_not_change_unless_a_rule_names_that():
    for gone in GONE:
        change = Change("binary_sensor.door", "on", gone, "now")
        assert not fits(rule(), change)
        assert fits(rule(to=gone), change)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_bound_counts_once_when_it_is_crossed(bound, before, after):
    change = Change("sensor.warmth", str(before), str(after), "now")
    assert fits(rule(above=bound), change) == (before <= bound < after)
    assert fits(rule(below=bound), change) == (after < bound <= before)


@given(st.text(), st.text())
def test_words_cross_no_bound(before, after):
    try:
        number = math.isfinite(float(after)) or True
    except ValueError:
        number = False
    assert number or not fits(rule(above=0.0), Change("sensor.warmth", before, after, "now"))


def test_settings_that_mean_nothing_are_refused_in_words():
    def problem(**settings):
        config, problems = structure(Config, settings, "tools.homeassistant")
        return "" if config and not problems else " ".join(map(str, problems))

    assert not problem(rules={"door": {"entities": ["binary_sensor.*"], "say": "Look."}}, allow=["light.*", "a.b"])
    assert "is no service" in problem(allow=["*"])
    assert "is no entity" in problem(rules={"door": {"entities": ["door"], "say": "Look."}})
    assert "at least one entity" in problem(rules={"door": {"entities": [], "say": "Look."}})
    assert "is no address" in problem(url="homeassistant.local")
    assert "is no address" in problem(url="http://user:pw@home:8123")
    assert "is no domain" in problem(blocked=["*"])

"""Secrets in context are masked, look-alikes are left alone: measured on the corpus that is shipped."""

import pytest
from measuring import alarms, left, missed, rows

SETS = ["tune", "held", "second", "third", "bench", "field", "trial"]


def test_the_corpus_is_large() -> None:
    assert sum(len(rows(f"{name}.secrets")) for name in SETS) >= 800
    assert sum(len(rows(f"{name}.harmless")) for name in SETS) >= 400


def test_the_measure_sees_what_is_left() -> None:
    assert left("sk-abcdefghijklmnopqrstuvwx", "it is ghijklmn")
    assert not left("sk-abcdefghijklmnopqrstuvwx", "it is sk-abc…uvwx")
    assert left("hunter22", "unter2")
    assert not left("hunter22", "***")


@pytest.mark.parametrize("name", SETS)
def test_secrets_are_masked(name: str) -> None:
    bad = missed(name)
    assert len(bad) <= 0.01 * len(rows(f"{name}.secrets")), bad


@pytest.mark.parametrize("name", SETS)
def test_look_alikes_stay(name: str) -> None:
    wrong = alarms(name)
    assert len(wrong) <= 0.05 * len(rows(f"{name}.harmless")), wrong

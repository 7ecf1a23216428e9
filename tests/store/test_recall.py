"""Planted facts are found by what people ask later, in other words; the world is that of ``benchmarks/recall.py``."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from hermes_core.store.store import Store

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recall.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recall_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("language", ["en", "ko", "ja", "zh"])
async def test_planted_facts_are_found_in_other_words(store: Store, bench: ModuleType, language: str) -> None:
    found = await bench.world(store, language, seed=2, facts=60)
    assert found["asked"] >= 60
    assert found["among_five"] >= 0.97


@pytest.mark.long
async def test_of_facts_that_changed_the_newest_comes_first(store: Store, bench: ModuleType) -> None:
    found = await bench.changed(store, rounds=11)
    assert found["asked"] == 1000
    assert found["newest_first"] >= 0.99

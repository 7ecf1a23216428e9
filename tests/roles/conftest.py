"""Tests of what people may do find their house beside them."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from speaking import House


@pytest.fixture
def house(hermes: Any) -> House:
    return House(hermes)

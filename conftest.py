"""For every test of the repository: a slow or busy machine is not a failure."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
settings.register_profile("long", settings.get_profile("house"), max_examples=5_000)


def pytest_addoption(parser: pytest.Parser) -> None:
    """How often tests repeat that find more the longer they look."""
    parser.addoption("--rounds", type=int, default=3, help="How often the process is killed at each point.")
    parser.addoption("--cases", type=int, default=1500, help="How many spoiled replies are played.")
    parser.addoption(
        "--seeds", type=int, default=25, help="With how many dice messages are sent to services that fail."
    )
    parser.addoption("--commits", type=int, default=200, help="How often each of many processes writes.")

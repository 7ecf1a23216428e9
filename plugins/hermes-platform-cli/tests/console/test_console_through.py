"""What of a command line a host has, and what makes a terminal work by itself."""

import pytest

from hermes_platform_cli.console.through import by_itself


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--cli"],
        ["chat", "-c"],
        ["--tui", "-r", "20261128_101500_1a2b3c4d"],
        ["--resume=Trains", "--interface", "tui"],
        ["-p", "work", "--interface=cli"],
    ],
)
def test_a_host_has_it(words: list[str]) -> None:
    assert by_itself(words) == ""


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["--cli", "--yolo"], "--yolo"),
        (["-m", "custom:m"], "-m"),
        (["-r", "--yolo", "-w"], "-w"),
        (["--safe-mode", "chat"], "--safe-mode"),
        (["-ryolo"], "-ryolo"),
    ],
)
def test_a_host_may_not_have_it(words: list[str], first: str) -> None:
    assert by_itself(words) == first

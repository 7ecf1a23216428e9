"""Style sheets know widgets by the names of their classes, whatever module these are in."""

import importlib
import pkgutil
from collections import defaultdict

from textual.widget import Widget

import hermes_platform_tui


def test_no_two_widgets_have_the_same_name() -> None:
    # The style sheet of the one, loaded when a dialog opens for the first time, would be that of the other as well.
    for module in pkgutil.walk_packages(hermes_platform_tui.__path__, "hermes_platform_tui."):
        importlib.import_module(module.name)
    found: dict[str, set[type]] = defaultdict(set)
    left = [Widget]
    while left:
        widget = left.pop()
        left += widget.__subclasses__()
        if widget.__module__.startswith("hermes_platform_tui.") and "[" not in widget.__name__:
            found[widget.__name__].add(widget)
    assert found
    assert {name: kinds for name, kinds in found.items() if len(kinds) > 1} == {}

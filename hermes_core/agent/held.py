"""Pieces of a reply that wait to be shown until what a crash would need to find them again is stored."""

from collections.abc import Callable

from hermes_core.types import Delta, Event, Noticed, ReasoningDelta, Said, TextDelta, Thinking


class Held:
    """Takes deltas in; ``show`` lets out what a person sees of them."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._deltas: list[Delta] = []

    def add(self, delta: Delta) -> None:
        """Keep a piece."""
        self._deltas.append(delta)

    def show(self) -> None:
        """Show what was kept."""
        for delta in self._deltas:
            if isinstance(delta, TextDelta) and delta.text:
                self._emit(Said(text=delta.text))
            elif isinstance(delta, ReasoningDelta) and delta.text:
                self._emit(Thinking(text=delta.text))
        self._deltas.clear()

    def notice(self, text: str) -> None:
        """Tell why the reply begins again: what was kept is no part of the answer any more."""
        self._deltas.clear()
        self._emit(Noticed(text=text))

"""A plugin's masker, called so that whatever goes wrong in it hides a text and never shows one."""

from collections.abc import Callable, Iterable
from time import thread_time
from typing import Any, TypeVar

from hermes_core.errors import HermesError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.kinds import Masker

__all__ = ["SLOW", "Hung", "Span", "Watched"]

T = TypeVar("T")
Span = tuple[int, int, bool]  # begin, end, and whether nothing of it may be shown
SLOW = 5.0  # seconds of a processor for one piece of a text, of at most 128 K characters


class Hung(HermesError):
    """A masker does not answer. Its words are our own."""


class Watched:
    """One masker and its owner; without a ``masker``, one that should be there and cannot be asked.

    ``report`` is told of the first fault. ``ask`` calls it, and raises Hung when no answer comes.
    """

    def __init__(
        self,
        label: str,
        masker: "Masker | None",
        report: Callable[[str, str, BaseException], None] | None = None,
        ask: Callable[[Callable[[], Any]], Any] = lambda call: call(),
    ) -> None:
        self.label, self._masker, self._report, self._ask = label, masker, report, ask

    def may_hold(self, text: str) -> bool:
        """Say False only of a text that surely holds nothing."""
        masker = self._masker
        return masker is None or self._tried("may_hold", lambda: bool(masker.may_hold(text))) is not False

    def follow(self) -> Callable[[str], list[Span] | None]:
        """Return what is asked about one text, piece by piece: the spans in it, or None when it cannot be judged.

        What failed once is not asked again about the same text: nobody knows what it would have remembered.
        """
        judge = self._tried("follow", self._masker.follow) if self._masker else None

        def ask(piece: str) -> list[Span] | None:
            nonlocal judge
            asked = judge
            found = self._tried("spans", lambda: _judged(asked, piece)) if asked else None
            judge = None if found is None else judge
            return found

        return ask

    def is_secret(self, value: str, name: str = "") -> bool | None:
        """Tell whether a value is a secret: by its field's name, or without one by its look. None: nobody knows."""
        masker = self._masker
        return self._tried("is_secret", lambda: bool(masker.is_secret(value, name))) if masker else None

    @property
    def missing(self) -> bool:
        """Whether the masker could not be had at all, so that nothing can be judged."""
        return self._masker is None

    def people(self, text: str, name: Callable[[str, str], str]) -> str | None:
        """Return the text with names for the people in it; None when that cannot be done."""
        masker = self._masker
        told = self._tried("people", lambda: masker.people(text, name)) if masker else None
        return told if isinstance(told, str) else None

    def _tried(self, where: str, call: Callable[[], T]) -> T | None:
        try:
            answer: T = self._ask(call)
            return answer
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is: the text is hidden
            if isinstance(error, Hung):
                self._masker = None  # each further text would wait as long
            self._failed(where, error)
        return None

    def _failed(self, where: str, error: BaseException) -> None:
        report, self._report = self._report, None  # first, as telling it goes into a log that is masked too
        if report is not None:
            report(self.label, where, error)


def _judged(judge: Callable[[str], Iterable[Span]], piece: str) -> list[Span]:
    began = thread_time()
    found = [_sound(span, len(piece)) for span in judge(piece)]
    if (taken := thread_time() - began) > SLOW:
        raise TimeoutError(f"took {taken:.1f} s for {len(piece):,} characters")
    return found


def _sound(span: Span, size: int) -> Span:
    begin, end, whole = span
    if not 0 <= int(begin) <= int(end) <= size:
        raise ValueError(f"gave the span {begin}, {end} in {size} characters")
    return int(begin), int(end), bool(whole)

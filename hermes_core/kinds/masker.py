"""Who finds secrets in texts, so that the kernel can mask them wherever a text leaves it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

__all__ = ["Masker"]


class Masker(ABC):
    """Finds secrets in texts. Plain and pure: it waits for nothing, keeps nothing and changes nothing.

    It is called for every text that is logged, stored or shown, from several threads. The kernel masks what it finds;
    where it raises, takes seconds or gives nonsense, the text is masked as a whole.
    """

    name: str

    @abstractmethod
    def spans(self, text: str) -> Iterable[tuple[int, int, bool]]:
        """Say where the secrets of a text are: begin, end, and whether nothing of it may be shown, not even its ends.

        The text is one or more whole lines, or a part of a line of more than 128 K characters; colours of terminals are
        taken out of it. Spans may overlap, and need no order.
        """

    def follow(self) -> Callable[[str], Iterable[tuple[int, int, bool]]]:
        """Return what is asked about a text that comes in pieces: called with each, in order, it answers as ``spans``.

        Override it when what a piece holds depends on those before it, such as the lines of a key.
        """
        return self.spans

    def may_hold(self, text: str) -> bool:
        """Say False only of a text in which ``spans`` would surely find nothing: that then costs next to nothing."""
        return True

    def is_secret(self, value: str, name: str = "") -> bool:
        """Tell whether the value of a field is a secret, by the field's name; without a name, whether it holds a token.

        The latter keeps variables out of the environment of commands.
        """
        return False

    def people(self, text: str, name: Callable[[str, str], str]) -> str:
        """Replace addresses, phones and ids of people in a text by ``name(kind, value)``, equal for equal ones."""
        return text

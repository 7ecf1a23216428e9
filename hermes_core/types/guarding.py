"""What a guard of commands is told, and what it says of their parts."""

from collections.abc import Callable, Sequence
from pathlib import Path

from hermes_core.values import frozen


@frozen(kw_only=True)
class Protected:
    """What of this program a command may neither touch nor do.

    ``closed`` are files and folders that no command may touch, ``readable`` folders among them that it may read.
    ``program`` is what this program is called; ``reserved`` tells of the words behind that name whether only a person
    may run them.
    """

    closed: Sequence[Path] = ()
    readable: Sequence[str] = ()
    program: str = "hermes"
    reserved: Callable[[Sequence[str]], bool] = lambda words: False


@frozen(kw_only=True)
class CommandPart:
    """One part of a command line, such as a simple command, as rules and lasting grants see it.

    A rule matches ``text``: the program by its bare name and its words. A part that is ``literal`` is allowed only by a
    rule that fits the whole call to the letter, as where something is redirected.

    A grant covers ``words``, run in ``folder``, to the letter; without them the part is one for rules only, and a line
    without a part for grants is granted as a whole. Of a ``family`` (its fixed words) it covers every part with no
    option but these ``options``, whose ``places`` (paths that its further words mean) all lie in the folder of the
    grant; ``covers`` says so in words that a person reads.
    """

    text: str
    literal: bool = False
    words: tuple[str, ...] = ()
    folder: str = ""
    family: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    covers: str = ""

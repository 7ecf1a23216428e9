"""Where skills are found: the sources that a person configured, each asked in its own format.

What they answer is text from strangers: it is shown, never followed, and nothing of it is kept before it was scanned.
"""

from hermes_core.values import frozen


@frozen(kw_only=True)
class Offer:
    """A skill that a source has. ``install`` is the word that ``hermes skills install`` takes for it."""

    name: str
    description: str
    install: str
    version: str = ""
    uses: int = 0  # downloads or installs, as the source counts them

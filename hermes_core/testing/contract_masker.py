"""What every masker promises: it finds secrets in texts, and nothing it does shows one."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from hermes_core.kinds import Masker
from hermes_core.masking.watched import Watched
from hermes_core.testing.contract_base import PluginContract
from hermes_core.testing.witness import Witness
from hermes_known.known import Known
from hermes_known.stream import MaskingStream, masked_text

__all__ = ["MaskerContract"]

ODD = ("", "\n", "\r\n" * 3, "\0", "İ" * 40, "\udc80", "a" * 200_000, "=" * 5_000, "\\" * 5_000)


class MaskerContract(PluginContract):
    """Inherit once for each masker; name your ``module`` and give ``masker`` when the plugin has several.

    ``secrets_in`` are texts, each with the secret in it, ``harmless`` texts in which there is none.
    """

    secrets_in: ClassVar[Sequence[tuple[str, str]]] = ()
    harmless: ClassVar[Sequence[str]] = ()

    @pytest.fixture
    def masker(self, contributed: Mapping[str, list[Any]]) -> Masker:
        """The masker under test; by default the first one the plugin contributes."""
        assert contributed.get("maskers"), "the plugin contributes no masker; give a masker fixture"
        masker: Masker = contributed["maskers"][0]
        return masker

    def test_it_finds_what_it_is_for(self, masker: Masker) -> None:
        """The secrets of ``secrets_in`` are hidden, and ``harmless`` texts stay as they are.

        If this fails: ``spans`` gives begin and end in the text it was handed, and ``may_hold`` may say no only where
        ``spans`` finds nothing.
        """
        assert self.secrets_in, "give `secrets_in`: texts, each with the secret that is in it"
        left = [text for text, secret in self.secrets_in if secret in _masked(masker, text)]
        assert not left, f"the secret can still be read in: {left}"
        changed = [text for text in self.harmless if _masked(masker, text) != text]
        assert not changed, f"these hold no secret, and were changed: {changed}"

    def test_its_spans_are_sound(self, masker: Masker) -> None:
        """Spans lie inside of the text, also of empty, long and odd ones; it never raises.

        If this fails: the kernel hides a text as a whole where a masker raises or gives a span outside of it.
        """
        for text in (*ODD, *self.harmless, *(text for text, _ in self.secrets_in)):
            for ask in (masker.spans, masker.follow()):
                wrong = [span for span in ask(text) if not 0 <= span[0] <= span[1] <= len(text)]
                assert not wrong, f"{wrong[0]} is no place in {text[:60]!r}"

    def test_lines_one_by_one_hide_what_the_whole_hides(self, masker: Masker) -> None:
        """A text in pieces is masked as the whole is, however it was cut.

        If this fails: what ``follow`` gives has to remember what a piece before left open.
        """
        for text in (*self.harmless, *(text for text, _ in self.secrets_in)):
            stream = MaskingStream(Known(), [Watched("", masker)])
            shown = "".join(map(stream.feed, text)) + stream.close()
            assert shown == _masked(masker, text), f"one sign at a time, {text!r} was shown as {shown!r}"

    def test_it_is_pure(self, masker: Masker) -> None:
        """Asked twice it says the same; it connects to nothing, starts nothing and writes nothing.

        If this fails: it is called for every line of a log. What it needs, it reads once from beside its module.
        """
        with Witness(strict=True) as witness:
            for text in (*self.harmless, *(text for text, _ in self.secrets_in)):
                assert list(masker.spans(text)) == list(masker.spans(text)), (
                    f"asked twice, it says two things: {text!r}"
                )
                assert isinstance(masker.is_secret(text, "name"), bool)
                assert isinstance(masker.people(text, lambda kind, value: f"{kind}-{value}"), str)
        done = [f"connects to {h}" for h in witness.hosts] + [f"starts {p}" for p in witness.programs]
        done += [f"changes {f}" for f in witness.written]
        assert not done, f"{masker.name} {', '.join(done)}"


def _masked(masker: Masker, text: str) -> str:
    return masked_text(text, Known(), [Watched("", masker)])

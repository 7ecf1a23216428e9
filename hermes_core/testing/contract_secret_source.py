"""What every source of secrets promises: it says what is there, says what is wrong, and shows nothing else."""

import logging
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest

from hermes_core.errors import UserError
from hermes_core.kinds import SecretSource
from hermes_core.testing.contract_base import PluginContract
from hermes_core.testing.witness import Witness

__all__ = ["SecretSourceContract"]

_SECONDS = 10.0


class SecretSourceContract(PluginContract):
    """Inherit once for each source; name your ``module`` and give ``source`` when the plugin has several.

    ``value`` is what lies at ``reference``, ``absent`` a reference at which nothing is, ``everything`` what
    ``read_all`` gives, None when it cannot.
    """

    reference: ClassVar[str] = ""
    value: ClassVar[str] = ""
    absent: ClassVar[str] = "no/such-thing"
    everything: ClassVar[Mapping[str, str] | None] = None

    @pytest.fixture
    def source(self, contributed: Mapping[str, list[Any]]) -> SecretSource:
        """The source under test; by default the first one the plugin contributes."""
        assert contributed.get("secret_sources"), "the plugin contributes no source; give a source fixture"
        source: SecretSource = contributed["secret_sources"][0]
        return source

    def test_it_reads_what_is_there(self, source: SecretSource) -> None:
        """``read`` gives the secret as it is, each time, without the end of a line.

        If this fails: give ``reference`` and ``value``; strip what a program adds, and nothing else.
        """
        assert self.reference, "give `reference` and `value`: a place, and the secret that lies there"
        assert [source.read(self.reference, _SECONDS) for _ in range(2)] == [self.value] * 2

    def test_what_is_not_there_is_said(self, source: SecretSource) -> None:
        """Where nothing lies ``read`` gives an empty text, or raises UserError that says what to do.

        If this fails: catch what your client raises, and say it in words of your own with a ``hint``.
        """
        try:
            found, said = source.read(self.absent, _SECONDS), None
        except UserError as error:
            found, said = "", error
        assert found == "", "nothing is there, and it gives something"
        assert said is None or said.hint, f"{said} does not say what to do: give a hint"
        assert said is None or "\n" not in f"{said.text}{said.hint}", "one line is enough"

    def test_it_says_all_it_has_or_that_it_cannot(self, source: SecretSource) -> None:
        """``read_all`` gives ``everything`` by names of variables; without it, it raises UserError.

        If this fails: leave ``read_all`` out where the store knows no names of variables.
        """
        if self.everything is None:
            with pytest.raises(UserError):
                source.read_all(_SECONDS)
        else:
            assert dict(source.read_all(_SECONDS)) == dict(self.everything)

    def test_many_threads_may_ask_at_once(self, source: SecretSource) -> None:
        """Asked by four threads at a time, each has its answer.

        If this fails: keep nothing on the object that one call writes and another reads.
        """
        with ThreadPoolExecutor(4) as threads:
            asked = threads.map(lambda _: source.read(self.reference, _SECONDS), range(8))
            assert list(asked) == [self.value] * 8

    def test_it_shows_nothing_and_leaves_nothing(
        self, source: SecretSource, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Reading prints nothing, logs no value, changes no variable, and writes no file.

        If this fails: the kernel keeps what you give in memory; a copy on disk or in the environment is a leak.
        """
        caplog.set_level(logging.DEBUG)
        before = dict(os.environ)
        with Witness(strict=True) as witness:
            value = source.read(self.reference, _SECONDS)
        said = capfd.readouterr()
        assert value not in said.out + said.err, "the secret was printed"
        assert value not in caplog.text, "the secret was logged"
        assert dict(os.environ) == before, "the environment was changed: tools would inherit it"
        assert not witness.written, f"it writes {', '.join(map(str, witness.written))}"

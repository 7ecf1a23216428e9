"""What every setup step promises: it asks for what is its plugin's own, says what is wrong, and writes nothing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from hermes_core.agent.settings import keep_to_own
from hermes_core.errors import HermesError
from hermes_core.kinds import LoginPrompt, SetupStep
from hermes_core.plugins.index import Installed
from hermes_core.testing.contract_base import PluginContract
from hermes_core.testing.witness import Witness

__all__ = ["SetupContract"]

_HIDDEN = 6  # letters from which a value would be recognised in a text


class SetupContract(PluginContract):
    """Inherit once for each setup step whose test you can play; name your ``module``.

    ``good`` and ``wrong`` are values by the names of fields: such as work where the test runs, and such as do not.
    ``elsewhere`` plays what a person does during a login: it gets a LoginPrompt, and gives what they bring back.
    """

    @pytest.fixture
    def step(self, contributed: Mapping[str, list[Any]]) -> SetupStep:
        """The step under test; by default the first one the plugin contributes."""
        assert contributed.get("setup"), "the plugin contributes no setup step; give a step fixture"
        step: SetupStep = contributed["setup"][0]
        return step

    @pytest.fixture
    def good(self) -> Mapping[str, str] | None:
        """Values that work; None where nothing can be asked here."""
        return None

    @pytest.fixture
    def wrong(self) -> Mapping[str, str] | None:
        """Values that do not work; None where nothing can be asked here."""
        return None

    @pytest.fixture
    def elsewhere(self) -> Callable[[LoginPrompt], str] | None:
        """What a person does elsewhere to log in; None where nobody can here, or there is no login."""
        return None

    def test_it_asks_for_what_is_its_own(self, contributed: Mapping[str, list[Any]]) -> None:
        """Every field is kept under a declared secret, or in a setting of the plugin or of one of its providers.

        If this fails: declare the secret in [permissions], or give the field a key below [config] section.
        """
        manifest = self.read_manifest()
        installed = Installed(label=manifest.label, manifest=manifest, module=self.module, path="")
        steps: Sequence[SetupStep] = contributed.get("setup", ())
        for step in steps:
            names = [one.name for one in step.fields]
            assert len(set(names)) == len(names), f"{step.name}: two fields share a name"
            keep_to_own(installed, step)
            for one in step.fields:
                assert not (one.default and one.check and one.check(one.default)), f"{one.name}: its default is wrong"

    async def test_what_works_is_told(self, step: SetupStep, good: Mapping[str, str] | None) -> None:
        """``test`` says in a sentence what it found, shows no secret, and changes nothing.

        If this fails: what is kept is written by whoever asks, after the person said so.
        """
        if good is None:
            pytest.skip("give `good`: values that work here")
        with Witness(strict=True) as witness:
            told = await step.test(_whole(step, good))
        assert isinstance(told, str), f"test gave a {type(told).__name__}"
        assert not _shown(step, good, told), "a secret is shown"
        assert not list(witness.written), f"test changed {list(witness.written)}"

    async def test_what_does_not_work_is_told(self, step: SetupStep, wrong: Mapping[str, str] | None) -> None:
        """``test`` raises a HermesError for values that do not work, and it shows no secret.

        If this fails: another error reads as a fault of the plugin, and no error lets a person keep what is wrong.
        """
        if wrong is None:
            pytest.skip("give `wrong`: values that do not work here")
        with pytest.raises(HermesError) as caught:
            await step.test(_whole(step, wrong))
        assert not _shown(step, wrong, str(caught.value)), "a secret is shown"

    async def test_a_login_gives_values_of_fields(
        self, step: SetupStep, elsewhere: Callable[[LoginPrompt], str] | None
    ) -> None:
        """``login`` says what to do, gives values by the names of fields, and writes nothing.

        If this fails: name the fields as ``fields`` does; what is kept is written by whoever asks, after the person's
        yes. A step without a login leaves ``login_label`` empty.
        """
        if elsewhere is None:
            pytest.skip("give `elsewhere`: what a person does to log in")
        assert step.login_label, f"{step.name} is logged in to, and login_label does not say how"
        shown: list[LoginPrompt] = []

        async def show(prompt: LoginPrompt) -> str:
            shown.append(prompt)
            return elsewhere(prompt)

        with Witness(strict=True) as witness:
            given = await step.login(show)
        assert shown, "the person was not told what to do"
        assert all(prompt.text.strip() for prompt in shown), "a prompt says nothing"
        assert given, "login gave nothing, and raised nothing"
        strange = given.keys() - {one.name for one in step.fields}
        assert not strange, f"there are no fields {', '.join(sorted(strange))}"
        wrong = [one.name for one in step.fields if one.name in given and one.check and one.check(given[one.name])]
        assert not wrong, f"its own check refuses what login gave for {', '.join(wrong)}"
        assert not list(witness.written), f"login changed {list(witness.written)}"


def _whole(step: SetupStep, values: Mapping[str, str]) -> dict[str, str]:
    return {one.name: values.get(one.name, "") for one in step.fields}


def _shown(step: SetupStep, values: Mapping[str, str], text: str) -> list[str]:
    hidden = [values.get(one.name, "") for one in step.fields if one.secret]
    return [value for value in hidden if len(value) >= _HIDDEN and value in text]

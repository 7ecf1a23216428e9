"""What the kernel asks of every platform stands beside the plugin's own settings, and is checked like them."""

from pathlib import Path

import pytest

from hermes_core.config.paths import Home
from hermes_core.config.settings import Settings, config_problems, get_value, load_settings
from hermes_core.errors import ConfigError, UnknownName
from hermes_core.options import option, settings


@settings
class Poll:
    """A plugin's section, which says nothing of people."""

    seconds: int = option("How long.", default=25)


@settings
class Curious(Poll):
    """One that wants to know whether it must be spoken to."""

    require_mention: bool = option("As the kernel's.", default=True)


def loaded(folder: Path, text: str, **environ: str) -> Settings:
    folder.joinpath("config.yaml").write_text(text)
    return load_settings(Home(folder), environ=environ)


def test_a_plugins_class_does_not_see_the_kernels_keys(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "platforms:\n  poll: {seconds: 5, allowed_users: ['7'], require_mention: false}\n")
    assert settings.section("platforms.poll", Poll).seconds == 5
    assert settings.platform("poll").allowed_users == ["7"]
    assert not settings.platform("poll").require_mention
    assert not settings.section("platforms.poll", Curious).require_mention


def test_a_platform_without_a_section_lets_nobody_in(tmp_path: Path) -> None:
    here = loaded(tmp_path, "").platform("poll")
    assert (here.allowed_users, here.allow_all_users, here.require_mention) == ([], False, True)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[1, '2']", ["1", "2"]),
        ("123", ["123"]),
        ("'*'", ["*"]),
        ("${POLL_ALLOWED_USERS}", ["1,2"]),  # split where it is read: see the access rules
        ("[]", []),
    ],
)
def test_ids_may_be_numbers_and_stand_alone(tmp_path: Path, written: str, read: list[str]) -> None:
    settings = loaded(tmp_path, f"platforms:\n  poll:\n    allowed_users: {written}\n", POLL_ALLOWED_USERS="1,2")
    assert settings.platform("poll").allowed_users == read


def test_mistakes_are_told_with_their_line_and_what_was_meant(tmp_path: Path) -> None:
    text = "platforms:\n  poll:\n    alowed_users: [1]\n    unknown: pairs\n    admins: [true]\n    seconds: x\n"
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    told = "\n".join(caught.value.problems)
    assert 'config.yaml:4 platforms.poll.unknown: must be one of "", pair, ignore; did you mean pair?' in told
    assert "config.yaml:5 platforms.poll.admins[0]: must be text, not true (YAML reads a bare yes" in told
    assert "seconds" not in told  # that is the plugin's, and asked for with its class
    found = config_problems(Home(tmp_path), {"platforms.poll": Poll})
    assert "config.yaml:3 platforms.poll.alowed_users: no such setting; did you mean allowed_users?" in found
    assert "config.yaml:6 platforms.poll.seconds: must be a whole number, not text" in found


@settings
class Persona:
    """What a plugin has in a section of the kernel, beside the kernel's keys."""

    streaming: bool = option("Show it.", default=True)
    people: dict[str, list[str]] = option("Who is who.", factory=dict, ids=True)


def test_an_open_section_is_the_kernels_and_its_plugins(tmp_path: Path) -> None:
    text = "agent:\n  max_calls: 5\n  streaming: false\n  people: {anna: 7}\n"
    here = loaded(tmp_path, text)
    assert here.config.agent.max_calls == 5
    assert here.section("agent", Persona) == Persona(streaming=False, people={"anna": ["7"]})
    assert loaded(tmp_path, "").section("agent", Persona).streaming
    assert (here.idle_sections([]), here.idle_sections(["agent"])) == (["agent"], [])
    assert get_value(here, "agent.streaming") is False
    assert get_value(loaded(tmp_path, ""), "agent.streaming", {"agent": Persona}) is True
    with pytest.raises(UnknownName):
        get_value(here, "agent.streming", {"agent": Persona})


def test_mistakes_in_an_open_section_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"config.yaml:2 agent.busy: must be one of queue, steer, interrupt"):
        loaded(tmp_path, "agent:\n  busy: nobody\n")
    tmp_path.joinpath("config.yaml").write_text("agent:\n  streming: 1\n  max_callz: 3\n  streaming: 1\n")
    found = config_problems(Home(tmp_path), {"agent": Persona})
    assert "config.yaml:2 agent.streming: no such setting; did you mean streaming?" in found
    assert "config.yaml:3 agent.max_callz: no such setting; did you mean max_calls?" in found
    assert "config.yaml:4 agent.streaming: must be true or false, not 1" in found

"""What the kernel asks of every platform stands beside the plugin's own settings, and is checked like them."""

from pathlib import Path

import pytest

from hermes_core.config.paths import Home
from hermes_core.config.settings import Settings, config_problems, load_settings
from hermes_core.errors import ConfigError
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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("people: {Anna: ['telegram:1']}", "'Anna' cannot be a person's name"),
        ("people: {'a:b': ['telegram:1']}", "'a:b' cannot be a person's name"),
        ("people: {anna: [1]}", "'1' must be an account with its platform, as telegram:1"),
        ("people: {anna: ['telegram:1'], ben: ['telegram:1']}", "telegram:1 cannot be both anna and ben"),
        ("allowed_users: ['@anna:example.org']", "must begin with its platform, as matrix:@anna:example.org does"),
        ("allowed_users: ['telegram:']", "must begin with its platform"),
    ],
)
def test_people_are_named_in_one_way_only(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=r"config.yaml:2 gateway\.(people|allowed_users)") as caught:
        loaded(tmp_path, f"gateway:\n  {text}\n")
    assert told in str(caught.value)


def test_one_account_may_stand_alone(tmp_path: Path) -> None:
    gateway = loaded(tmp_path, "gateway:\n  people: {owner: telegram:1}\n  allowed_users: 5\n").config.gateway
    assert (gateway.people, gateway.allowed_users) == ({"owner": ["telegram:1"]}, ["5"])

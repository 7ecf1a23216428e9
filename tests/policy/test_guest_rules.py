"""The folders of guests: nobody shares one, and none leads out of where they lie."""

import re
from pathlib import Path

import pytest

from hermes_core.agent.policy.guests import Guests
from hermes_core.types import Principal

HOST, ANNA = Principal(), Principal(person="anna")


@pytest.fixture
def guests(tmp_path: Path) -> Guests:
    return Guests(host=HOST, people=tmp_path / "people")


def test_a_guests_folder_is_named_by_whom_it_is_for(guests: Guests) -> None:
    for person, name in (("Anna Lee", "anna-lee"), ("x" * 50, "x" * 40), ("-a_b-", "a-b"), ("É", "")):
        folder = guests.folder(Principal(person=person))
        assert re.fullmatch(rf"{name}{'-' if name else ''}[0-9a-f]{{16}}", folder.parent.name), person
        assert (folder.name, folder.parent.parent) == ("work", guests.people)


def test_the_host_is_no_guest_and_a_person_of_another_profile_is(guests: Guests) -> None:
    assert not guests.is_guest(HOST)
    assert guests.is_guest(Principal(profile="work"))
    assert guests.folder(Principal(profile="work", person="anna")) != guests.folder(ANNA)
    assert guests.folder(Principal(person="-.-")).parent.name[0] != "-", "as a word of a command it is no option"
    assert guests.closed(HOST) == (guests.people,)
    assert guests.closed(ANNA) == ()

import allowance

from hermes_core.types import Failed, Principal

MAY = {"permissions": {"kernel": ["sessions.read"]}, "contributes": {"purses": ["allowance"]}}
BEN = Principal(person="ben")


async def test_a_guest_has_an_end_and_the_owner_has_none(hermes, scripted, monkeypatch):
    monkeypatch.setattr(allowance, "TOKENS", 1)
    hermes.tmp_plugin(scripted("one", "two", "three"))
    hermes.tmp_plugin(allowance.register_purses, name="allowance", manifest=MAY)

    async def ask(session, owner=None):
        events = [event async for event in hermes.turn("hello", session=session, owner=owner)]
        return [event.text for event in events if isinstance(event, Failed)]

    assert [await ask("mine") for _ in range(2)] == [[], []]
    assert [await ask("his", BEN) for _ in range(2)] == [[], ["Your tokens are used up."]]

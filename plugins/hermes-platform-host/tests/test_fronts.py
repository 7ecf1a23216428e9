"""What a host offers a terminal that has loaded nothing, and what a screen of it may ask."""

import asyncio
import json
from typing import Any

from hermes_core import __version__
from hermes_front.one_shot import hello
from hermes_front.screen import FRONTS
from hermes_front.wire import Lines, connect, frame
from hermes_platform_kit.spoken import PROTOCOL


def talk(house: Any, **order: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Say what a terminal says first; the connection, and the next two frames."""
    connection = connect(str(house.socket), 10.0)
    assert connection
    mine = {**hello(__version__, str(house.home), do="front", fronts=FRONTS, **order), "env": house.env}
    connection.sendall(frame(**mine))
    lines = iter(Lines(connection))
    return connection, [next(lines, {}), next(lines, {})]


def ask(connection: Any, *asked: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask the platform there; what it answers, in the order in which it was asked."""
    for number, (what, given) in enumerate(asked, 1):
        connection.sendall(frame(id=number, do="platform", chat="", words=[what], given=given))
    found: dict[int, dict[str, Any]] = {}
    for told in Lines(connection):
        if "re" in told:
            found[told["re"]] = told
        if len(found) == len(asked):
            break
    return [found[number] for number in sorted(found)]


async def test_a_terminal_is_offered_what_it_can_begin_with(house: Any) -> None:
    await house.open()
    status, out, _ = await house.hermes("-z", "when?")
    assert (status, out) == (0, "Nine o'clock.\n")
    session = json.loads((await house.hermes("sessions", "list", "--json"))[1].splitlines()[0])["id"]

    def offers() -> None:
        connection, (first, offer) = talk(house, talk="tui", session="", latest=True)
        with connection:
            assert (first["ok"], first["fronts"]) == (1, FRONTS)
            assert [one["name"] for one in offer["platforms"]] == ["tui"]
            assert (offer["session"], offer["facts"]["session"]) == (session, session)
            assert set(offer["platforms"][0]["shown"]) == {"config", "home", "data", "services"}
            connection.sendall(frame(console=PROTOCOL, platform="tui", session=session, stays=False, commands=[]))
            got, read, none, rows, odd, nonsense = ask(
                connection,
                ("get", {"session": session}),
                ("read", {"session": session, "around": 0, "window": 5}),
                ("get", {"session": "none"}),
                ("rows", {"limit": 5}),
                ("rows", {"limit": "5"}),
                ("nonsense", {}),
            )
            assert got["value"]["id"] == session
            assert "when?" in json.dumps(read["value"])
            assert none["value"] is None
            assert [one["session"]["id"] for one in rows["value"]] == [session]
            assert "number" in odd["error"]
            assert "nonsense" in nonsense["error"]
        for order, names in (({"talk": ""}, ["tui", "cli"]), ({"talk": "cli"}, ["cli"])):
            connection, (_, offer) = talk(house, session="", latest=False, **order)
            connection.close()  # it leaves without a word, as where nothing fits
            assert [one["name"] for one in offer["platforms"]] == names
            assert offer["session"] == ""
        for order in ({"talk": "tui", "session": "no such one"}, {"talk": "nonsense", "session": ""}):
            connection, (_, refused) = talk(house, **order)
            connection.close()
            assert refused["no"]
        connection, (_, offer) = talk(house, talk="attach", session="latest")
        connection.close()
        assert offer["session"] == "latest"

    await asyncio.to_thread(offers)

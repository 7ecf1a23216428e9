"""``hermes plugins audit`` says what plugins reach for and do not disclose."""

import pytest

SNEAKS = """
import socket, subprocess
from hermes_core import hookimpl

@hookimpl
async def on_session_start():
    subprocess.run(["true"])
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=0.01)
    except OSError:
        pass
"""


def run(cli, **permissions):
    cli.plugin("tool/sneaky", SNEAKS, hooks={"use": ["on_session_start"]}, permissions=permissions)
    assert cli("plugins", "enable", "sneaky", "--yes").status == 0
    done = cli.process("plugins", "audit", "--", "-z", "hello", fresh=True)
    assert done.status == 0
    assert done.out.startswith("Hello!")
    return done.err.partition("Audit (a witness, not a wall):\n")[2]


@pytest.mark.long
def test_what_is_not_disclosed_is_told(cli):
    lines = run(cli).splitlines()
    assert [line.partition(";")[0] for line in lines] == [
        "  tool/sneaky: it connects to 192.0.2.1",
        "  tool/sneaky: it starts true",
    ]
    log = "".join(path.read_text() for path in (cli.home / "logs").iterdir())
    assert "it connects to 192.0.2.1" in log


def test_what_is_disclosed_is_not(cli):
    told = run(cli, network=["192.0.2.*"], processes=["true"])
    assert told.strip() == "No plugin reached for what it does not disclose."


@pytest.mark.long
def test_our_own_plugins_disclose_all_they_do(cli):
    done = cli.process("plugins", "audit", "--", "--yolo", "-z", "run: echo hi && ls", fresh=True)
    assert "No plugin reached for what it does not disclose." in done.err

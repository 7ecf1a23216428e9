"""Whatever a provider sends, the turn ends, the session lives on, and what is stored is sound.

`pytest tests/hostile --cases 10000` plays more of them. A case that fails is played alone by
`PYTHONPATH=tests/hostile python tests/hostile/hostile_play.py NUMBER`.
"""

import pytest
from hostile_mutants import KINDS, WIRES, make
from hostile_play import run

pytestmark = pytest.mark.long

BATCH = 125


def pytest_generate_tests(metafunc) -> None:
    if "batch" in metafunc.fixturenames:
        metafunc.parametrize("batch", range(0, metafunc.config.getoption("cases"), BATCH))


@pytest.mark.filterwarnings("ignore::UserWarning")  # what pydantic says of a reply that is not what the SDK expects
def test_spoiled_replies_end_well(batch, tmp_path, caplog):
    caplog.set_level("CRITICAL")  # the log of thousands of failures is not looked at
    tally = run(range(batch, batch + BATCH), tmp_path)
    assert not tally.wrong, "\n".join(tally.wrong[:20])
    assert sum(tally.ended.values()) == BATCH


def test_the_cases_are_of_every_kind_and_protocol():
    cases = [make(number) for number in range(300)]
    assert {(c.protocol, c.kind) for c in cases} == {(protocol, kind) for protocol in WIRES for kind in KINDS}
    assert all(len(c.must_run) < 4 for c in cases)

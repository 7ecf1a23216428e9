"""Every probe, behind every wall."""

import pytest

from hermes_backend_wall.plan import Plan
from hermes_backend_wall.probes import PROBES, refuted
from hermes_core.errors import UserError

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]


def test_there_are_many_and_each_says_what_it_tries():
    assert len({probe.text for probe in PROBES}) == len(PROBES) >= 110
    for probe in PROBES:
        compile(probe.code, probe.text, "exec")
        assert probe.file or "passed()" in probe.code or "call(" in probe.code or "connect(" in probe.code


async def test_nothing_gets_through(plan, kind):
    wall, through = await refuted(plan)
    assert wall.name == kind
    assert through == []


async def test_what_is_not_put_back_is_seen(plan, kind, monkeypatch):
    """A probe that cannot find anything proves nothing."""
    from hermes_backend_wall.protected import Protected

    monkeypatch.setattr(Protected, "compare", lambda _: "")
    kept = [probe for probe in PROBES if probe.file]
    _, through = await refuted(plan, kept)
    assert through == [probe.text for probe in kept]


async def test_without_a_wall_nothing_is_tried(tmp_path):
    with pytest.raises(UserError, match="no wall"):
        await refuted(Plan(kind="none", homes=tmp_path))

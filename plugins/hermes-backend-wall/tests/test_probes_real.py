"""Every probe, behind every wall."""

import pytest

from hermes_backend_wall.plan import Plan
from hermes_backend_wall.probes import PROBES, refuted
from hermes_core.errors import UserError

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]


def test_there_are_many_and_each_says_what_it_tries():
    assert len({probe.text for probe in PROBES}) == len(PROBES) >= 90
    for probe in PROBES:
        compile(probe.code, probe.text, "exec")
        assert "passed()" in probe.code or "call(" in probe.code or "connect(" in probe.code


async def test_nothing_gets_through(plan, kind):
    wall, through = await refuted(plan)
    assert wall.name == kind
    assert through == []


async def test_without_a_wall_nothing_is_tried(tmp_path):
    with pytest.raises(UserError, match="no wall"):
        await refuted(Plan(kind="none", homes=tmp_path))

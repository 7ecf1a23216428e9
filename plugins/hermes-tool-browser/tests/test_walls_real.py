"""What a browser cannot reach: files, processes and ports of this machine, and private addresses by whatever name."""
# ruff: noqa: PTH111, PTH112, PTH115, PTH123, PTH208 - /proc is no folder of files

import os

import pytest

from hermes_backend_wall.interpreter import python
from hermes_core.context import UrlRules
from hermes_tool_browser import checks

pytestmark = [pytest.mark.real, pytest.mark.timeout(180), pytest.mark.asyncio(loop_scope="module")]


def marked(mark):
    """The network of each process that bears a mark."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if f"HERMES_RUN={mark}".encode() in file.read():
                    found[int(name)] = os.readlink(f"/proc/{name}/ns/net")
        except OSError:
            continue
    return found


async def test_its_processes_have_a_network_and_a_view_of_their_own(bench, site):
    await bench.call("navigate", url=f"{site.url}/plain")
    inside = [
        pid
        for pid, net in marked(bench.browsing.backend._place._mark).items()
        if net != os.readlink("/proc/self/ns/net")
    ]
    assert len(inside) >= 3
    home, shown = os.path.expanduser("~"), python()[1]
    for pid in inside:
        root = f"/proc/{pid}/root"
        assert not [path for path in (str(bench.work), "/etc/shadow", "/etc/hosts") if os.path.lexists(root + path)]
        mine = os.listdir(root + home) if os.path.isdir(root + home) else []
        assert [name for name in mine if not shown.startswith(f"{home}/{name}")] == []
    assert bench.browsing.describe() == f"Chromium (bubblewrap): {site.url}/plain"


async def test_nothing_of_it_writes_into_a_home(bench, site):
    await bench.call("navigate", url=f"{site.url}/plain")
    place = bench.browsing.backend._place.folder
    assert {path.name for path in place.iterdir()} == {"mark", "way", "browser", "browser.said", "downloads"}
    await bench.context.close()
    assert not place.exists()


NAMES = {
    "rebound.example": ["127.0.0.1"],
    "both.example": ["93.184.216.34", "10.0.0.1"],
    "keys.example": ["169.254.169.254"],
}


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_that_leads_inside_is_refused_when_it_is_dialled(make, site, name):
    async def lookup(host, port):
        return NAMES.get(host, [])

    bench = make(urls=UrlRules(lookup=lookup))
    before = len(site.asked)
    assert "was not opened" in await bench.fails("navigate", url=f"http://{name}:{site.port}/secret")
    assert len(site.asked) == before


async def test_what_a_page_fetches_is_refused_as_well(bench, site):
    await bench.call("navigate", url=f"{site.url}/inside")
    await bench.call("wait", gone="…", seconds=3)
    refused = [one.why for one in bench.browsing.backend._place.way.refused]
    assert any("169.254.169.254" in why for why in refused)


async def test_doctor_says_what_is_there(make):
    (check,) = checks.checks(make().ctx)
    (finding,) = await check.full()
    assert finding.level == "ok"
    assert "behind bubblewrap and Chromium's own sandbox" in finding.text


async def test_without_bubblewrap_the_way_out_still_judges_and_nothing_stays(make, site):
    bench = make(wall="none")
    assert "Words of it." in await bench.call("navigate", url=f"{site.url}/plain")
    assert "A red dot" in await bench.call("navigate", url=f"{site.url}/images")
    assert "keys" in await bench.fails("navigate", url=f"{site.url}/inward")
    place = bench.browsing.backend._place
    assert (place.wall, bench.browsing.describe().partition(":")[0]) == ("none", "Chromium (none)")
    await bench.context.close()
    assert not place.folder.exists()
    assert not marked(place._mark)

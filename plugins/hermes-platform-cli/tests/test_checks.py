"""What ``hermes doctor`` is told by this plugin."""

import asyncio
from types import SimpleNamespace

from hermes_core.contents import Package
from hermes_platform_cli.checks import checks
from hermes_platform_cli.contents import installed_contents

ONE = "hermes-tool-todo"


def found(*wanted):
    plugins = SimpleNamespace(wanted=lambda: wanted)
    [check] = [one for one in checks(SimpleNamespace(plugins=plugins)) if one.name == "installed"]
    return [(one.level, one.text) for one in asyncio.run(check.run())]


def test_files_that_changed_since_they_were_installed_are_told():
    there = installed_contents(ONE)
    assert there is not None
    same = Package(ONE, ONE, only_binary=True, version=there.version, digest=there.digest)
    assert found(same) == []
    other = same._replace(digest="of other files")
    assert found(other) == [("fault", f"files of {ONE} changed since it was installed")]
    assert found(other._replace(version="0.1")) == [], "another release was put there since"
    assert found(Package("hermes-tool-gone", "", only_binary=True, version="1", digest="x")) == []

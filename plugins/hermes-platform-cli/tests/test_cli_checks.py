"""What doctor asks of the terminal plugin beside the terminal."""

from pathlib import Path
from types import SimpleNamespace

from hermes_core.errors import UnknownName
from hermes_platform_cli.checks import checks
from hermes_platform_cli.commands.contents import installed_contents


async def test_files_that_changed_since_they_were_installed_are_named(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "site"
    info = folder / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "acme.py").write_text("one = 1\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "RECORD").write_text("acme.py,,\nacme-1.0.dist-info/METADATA,,\nacme-1.0.dist-info/RECORD,,\n")
    monkeypatch.syspath_prepend(str(folder))
    there = installed_contents("acme")
    assert there is not None
    wanted = {
        "acme": {"requirement": "acme", "version": "1.0", "digest": there.digest},
        "Acme": {"requirement": "acme", "version": "0.9", "digest": "of another version"},
        "gone": {"requirement": "gone", "version": "1.0", "digest": "of what is not there"},
        "ACME": {"requirement": "acme", "version": "1.0"},
    }
    ctx = SimpleNamespace(plugins=SimpleNamespace(wanted=lambda: wanted), program="hermes")
    (check,) = [one for one in checks(ctx) if one.name == "installed"]
    assert check.cheap
    assert await check.run() == []
    (folder / "acme.py").write_text("one = 2\n")
    (finding,) = await check.run()
    assert (finding.level, finding.text) == ("fault", "the files of acme changed since it was installed")


async def test_a_memory_that_is_not_enabled_or_not_there_is_one_fault_with_its_mend() -> None:
    owners = [
        SimpleNamespace(label="memory/files", enabled=True, contributes={"memories": ("files",)}),
        SimpleNamespace(label="memory/far", enabled=False, contributes={"memories": ("far",)}),
    ]

    def find(label: str) -> object:
        if label != "memory/files":
            raise UnknownName("plugin", label)
        return owners[0]

    plugins = SimpleNamespace(find=find, list=lambda: owners, offered=lambda table: ("files", "far"))
    memory = SimpleNamespace(provider="files")
    ctx = SimpleNamespace(plugins=plugins, host=SimpleNamespace(section=lambda name: memory), program="acme")
    (check,) = [one for one in checks(ctx) if one.name == "memory"]
    found = {}
    for name in ("files", "", "far", "nosuch"):
        memory.provider = name
        (found[name],) = await check.run()
    assert check.cheap
    assert {name: one.level for name, one in found.items()} == {
        "files": "ok",
        "": "ok",
        "far": "fault",
        "nosuch": "fault",
    }
    assert found["far"].fix == "acme plugins enable memory/far"
    assert "far, files" in found["nosuch"].fix

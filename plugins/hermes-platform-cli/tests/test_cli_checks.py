"""What doctor asks of the terminal plugin beside the terminal."""

from pathlib import Path
from types import SimpleNamespace

from hermes_core.config.schema import MemorySettings
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


async def test_a_memory_that_settings_name_and_that_is_not_there_is_a_fault() -> None:
    def row(name: str, *, enabled: bool) -> SimpleNamespace:
        return SimpleNamespace(label=f"memory/{name}", enabled=enabled, contributes={"memories": [name]})

    rows = [row("files", enabled=True), row("mem0", enabled=False)]
    for named, there, says in (
        ("files", rows, ""),
        ("", rows, ""),
        ("mem0", rows, "is not enabled"),
        ("nobody", rows, "is not installed"),
        ("files", [], ""),  # a product without memory, where nobody named one
    ):
        host = SimpleNamespace(section=lambda _, named=named: MemorySettings(provider=named))
        ctx = SimpleNamespace(host=host, plugins=SimpleNamespace(list=lambda there=there: there), program="hermes")
        (check,) = [one for one in checks(ctx) if one.name == "memory"]
        found = await check.run()
        assert [one.level for one in found] == (["fault"] if says else [])
        assert all(says in one.text for one in found)
        assert all("config set memory.provider" in one.fix for one in found)

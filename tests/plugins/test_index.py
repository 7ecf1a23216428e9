"""What is found, what it costs, and who wins when two claim one thing."""

import json
import subprocess
import sys

import pytest

from hermes_core.errors import UnknownName, UserError
from hermes_core.plugins.index import load_index

TOOLS = {"contributes": {"tools": ["now"]}}


def scan(site, **more):
    return load_index(site.cache, site.user, **more)


def test_packages_folders_and_files_are_found_without_running_them(site):
    bomb = "raise SystemExit('imported')"
    site.package("tool/clock", bomb, tables=TOOLS, version="2.1")
    site.folder("memory/list", bomb)
    site.file("provider/echo", bomb)
    found = scan(site)
    assert [p.label for p in found.plugins] == ["memory/list", "provider/echo", "tool/clock"]
    assert [p.origin for p in found.plugins] == ["folder", "file", "package"]
    clock = found.get("tool/clock")
    assert (clock.distribution, clock.version, clock.module) == ("hermes-tool-clock", "2.1", "hermes_tool_clock")
    assert clock.manifest.contributes["tools"] == ("now",)
    assert found.faults == ()


def test_an_editable_install_is_found_through_its_path_file(site, tmp_path, monkeypatch):
    folder = site.package("tool/clock", tables=TOOLS)
    source = tmp_path / "elsewhere" / "src"
    source.mkdir(parents=True)
    folder.rename(source / folder.name)
    monkeypatch.setattr(sys, "path", [*sys.path, str(source)])
    assert scan(site).get("tool/clock").path == str(source / folder.name)


def test_a_module_may_lie_deeper_than_its_manifest(site):
    folder = site.package("tool/clock", tables=TOOLS)
    (site.packages / "hermes_tool_clock-1.0.dist-info" / "entry_points.txt").write_text(
        "[hermes.plugins]\nclock = hermes_tool_clock.plugin:anything\n"
    )
    found = scan(site).get("tool/clock")
    assert (found.module, found.path) == ("hermes_tool_clock.plugin", str(folder))


def test_the_second_look_comes_from_the_cache(site):
    site.package("tool/clock", tables=TOOLS)
    scan(site)
    data = json.loads(site.cache.read_text())
    data["plugins"][0]["version"] = "from the cache"
    site.cache.write_text(json.dumps(data))
    assert scan(site).plugins[0].version == "from the cache"
    assert scan(site, rescan=True).plugins[0].version == "1.0"


def test_a_hit_imports_only_the_standard_library_and_no_metadata(site):
    site.package("tool/clock", tables=TOOLS)
    code = (
        "import sys; from pathlib import Path; from hermes_core.plugins.index import load_index;"
        f"found = load_index(Path({str(site.cache)!r}), Path({str(site.user)!r}));"
        "print(len(found.plugins), len(found.faults));"
        "heavy = ('importlib.metadata', 'tomllib', 'attrs', 'pluggy', 'typing', 'asyncio');"
        "print([m for m in heavy if m in sys.modules])"
    )
    env = {"PYTHONPATH": ":".join(sys.path)}
    runs = [
        subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0].startswith("1 0\n['importlib.metadata', 'tomllib'")
    assert "attrs" not in runs[0]
    assert "pluggy" not in runs[0]
    assert runs[1].splitlines()[1] in ("[]", "['typing']")  # pathlib may pull typing in on some versions
    assert runs[1].startswith("1 0")


def test_installing_and_changing_are_noticed(site):
    folder = site.package("tool/clock", tables=TOOLS)
    scan(site)
    (folder / "hermes-plugin.toml").write_text(
        (folder / "hermes-plugin.toml").read_text() + '[hooks]\nuse = ["admit"]\n'
    )
    assert scan(site).get("tool/clock").manifest.hooks == ("admit",)
    site.package("tool/watch")
    assert scan(site).get("tool/watch")
    site.file("tool/late")
    assert scan(site).get("tool/late")


def test_a_manifest_that_appears_later_is_noticed(site):
    folder = site.folder("tool/late")
    text = (folder / "hermes-plugin.toml").read_text()
    (folder / "hermes-plugin.toml").unlink()
    assert scan(site).get("late").fault.phase == "declare"
    (folder / "hermes-plugin.toml").write_text(text)
    assert scan(site).get("tool/late").fault is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 1}', "\x00"])
def test_a_broken_cache_is_a_miss(site, content):
    site.package("tool/clock")
    scan(site)
    site.cache.write_text(content)
    assert scan(site).get("tool/clock")


def test_a_cache_that_cannot_be_written_is_done_without(site):
    site.package("tool/clock")
    site.cache.parent.parent.joinpath("cache").write_text("a file where the folder should be")
    assert scan(site).get("tool/clock")


def test_the_cache_is_never_put_where_python_looks_for_modules(site):
    load_index(site.packages / "plugins.json", None)
    assert not (site.packages / "plugins.json").exists()


def test_plugins_in_the_current_folder_are_not_installed_plugins(site, tmp_path, monkeypatch):
    site.package("tool/clock")
    monkeypatch.chdir(site.packages)
    assert scan(site).plugins == ()


def test_missing_broken_and_future_manifests_are_faults_with_a_way_out(site):
    site.package("tool/none", manifest="")
    site.package("tool/broken", manifest="api = 1\nname = ")
    site.package("tool/future", api=7)
    site.package("tool/good")
    found = scan(site)
    said = {fault.plugin: fault for fault in found.faults}
    assert set(said) == {"tool/none", "tool/broken", "tool/future"}
    assert all(fault.phase == "declare" and fault.hint and fault.version == "1.0" for fault in said.values())
    assert said["tool/future"].error == "needs a newer hermes-core (plugin API 7, this is 1)"
    assert found.get("tool/good").fault is None


def test_a_distribution_without_its_module_says_so(site):
    folder = site.package("tool/gone")
    folder.rename(folder.with_name("renamed"))
    fault = scan(site).get("tool/gone").fault
    assert fault.phase == "discover"
    assert "hermes_tool_gone is not there" in fault.error


def test_of_two_plugins_with_one_label_the_first_works_and_the_fault_names_both(site):
    site.package("tool/board", distribution="zeta-board")
    site.package("tool/board", distribution="alpha-board")
    found = scan(site)
    assert found.get("tool/board").distribution == "alpha-board"
    (fault,) = found.faults
    assert fault.phase == "discover"
    assert "zeta-board" in fault.error
    assert "alpha-board is used" in fault.error
    assert scan(site, first=["zeta-*"]).get("tool/board").distribution == "zeta-board"


def test_of_two_plugins_with_one_tool_the_first_works_and_the_fault_names_both(site):
    site.package("tool/a", distribution="zeta", tables=TOOLS)
    site.package("tool/b", distribution="alpha", tables=TOOLS)
    found = scan(site)
    assert [p.distribution for p in found.contributing("tools", "now")] == ["alpha", "zeta"]
    (fault,) = found.faults
    assert fault.plugin == "tool/a"
    assert fault.error == "alpha and zeta both add 'now'; alpha is used"


def test_a_plugin_that_may_override_tools_is_no_clash(site):
    site.package("tool/a", distribution="alpha", tables=TOOLS)
    site.package("tool/z", distribution="zeta", tables={**TOOLS, "permissions": {"kernel": ["tools.override"]}})
    found = scan(site)
    assert found.faults == ()
    assert found.contributing("tools", "now")[0].distribution == "zeta"


def test_a_plugin_is_found_by_label_name_or_distribution(site):
    site.package("tool/files")
    site.package("memory/files")
    site.package("tool/clock")
    found = scan(site)
    for words in ("tool/clock", "clock", "hermes-tool-clock", "Hermes_Tool_Clock"):
        assert found.resolve(words).label == "tool/clock"
    with pytest.raises(UserError, match="memory/files, tool/files"):
        found.resolve("files")
    with pytest.raises(UnknownName, match="Did you mean 'tool/clock'"):
        found.resolve("tool/clok")

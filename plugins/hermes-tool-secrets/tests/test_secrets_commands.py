"""``hermes secrets``, and what doctor is told."""

import json

import pytest

KEY = "kq7Zp2Xw9Rt4Lm6Vb1Nc"


@pytest.fixture
def bench(hermes, program, monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    monkeypatch.setenv("B_KEY", "of-the-environment")
    hermes.tmp_plugin("hermes_tool_secrets")
    program("pass", f"import sys; print({KEY!r}) if sys.argv[-1] == 'a' else sys.exit('is not in the password store')")
    hermes.configure({"secrets.env": {"A_KEY": "pass:a", "B_KEY": "pass:b", "C_KEY": "pass:c", "D_KEY": "nobody:d"}})
    return hermes


async def test_list_says_where_each_is_and_asks_nobody(bench, program):
    program("pass", "open(SEEN, 'w')")
    async with bench:
        bench.runtime.home.env_file.write_text("A_KEY=old-old-old\nE_KEY=only-here\n")
        said = await bench.command("secrets list", "--json")
    rows = {row["name"]: row for row in map(json.loads, said.splitlines())}
    assert rows["A_KEY"] == {"name": "A_KEY", "from": "pass:a", "also in": ".env"}
    assert rows["B_KEY"]["from"] == "environment"
    assert rows["B_KEY"]["also in"] == "pass:b"
    assert rows["E_KEY"]["from"] == ".env"
    assert "old-old" not in said
    assert not list(bench.runtime.home.root.parent.glob("**/seen"))


async def test_check_asks_for_each_and_shows_no_value(bench):
    async with bench:
        said = await bench.command("secrets check")
        finding = await bench.command("secrets check", "--json")
    rows = {row["name"]: row for row in map(json.loads, finding.splitlines())}
    assert (rows["A_KEY"]["state"], rows["A_KEY"]["problem"]) == ("ok", "")
    assert rows["C_KEY"]["state"] == "not to be had"
    assert rows["C_KEY"]["problem"] == "It has nothing there. See what there is: pass ls"
    assert rows["D_KEY"]["problem"].startswith("There is no source of secrets named 'nobody'.")
    assert KEY not in said + finding
    assert "of-the-environment" not in said + finding


async def test_a_token_may_come_from_another_source(hermes, program):
    hermes.tmp_plugin("hermes_tool_secrets")
    program("pass", "print('0.token-of-pass')")
    said = "[{'key': 'A_KEY', 'value': os.environ['BWS_ACCESS_TOKEN'] + '!'}]"
    program("bws", f"import json, os; print(json.dumps({said}))")
    hermes.configure({"secrets.env": {"BWS_ACCESS_TOKEN": "pass:bws"}, "secrets.bulk": ["bws"]})
    async with hermes:
        assert hermes.runtime.settings.secrets.get("A_KEY") == "0.token-of-pass!"


async def test_doctor_is_told_of_programs_that_are_missing(bench, monkeypatch, tmp_path):
    async with bench:
        bench.runtime.loader.load_contributing("checks")
        ((_, check),) = bench.runtime.dispatch.contributions("register_checks")
        (fine,) = await check.run()
        assert fine.level == "ok"
        found = await check.full()
        assert [one.text.partition(" ")[0] for one in found] == ["C_KEY", "D_KEY"]
        assert {one.fix for one in found} == {"hermes secrets check"}
        monkeypatch.setenv("PATH", str(tmp_path))
        (missing,) = await check.run()
        assert missing.text == "secrets come from pass, whose program is missing"
        assert missing.fix.startswith("install it: apt install pass")


async def test_of_a_source_that_gives_all_the_names_are_shown(hermes, program):
    hermes.tmp_plugin("hermes_tool_secrets")
    hermes.configure(
        {"secrets.bulk": ["command", "bws"], "tools.secrets.bulk_command": ["/bin/echo", f'{{"Z_KEY": "{KEY}"}}']}
    )
    async with hermes:
        said = await hermes.command("secrets check")
        listed = await hermes.command("secrets list")
    assert [line.split() for line in said.splitlines() if "command" in line or "bws" in line] == [
        ["Z_KEY", "command", "ok"],
        ["(all", "it", "has)", "bws", "not", "to", "be", "had"],
        ["(all", "it", "has)", "command", "ok"],
    ]
    assert "Z_KEY" not in listed
    assert KEY not in said

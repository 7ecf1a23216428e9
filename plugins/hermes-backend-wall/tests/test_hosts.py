"""Which hosts honest commands need: registries, the person's mirrors, forges that somebody pointed to."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_backend_wall.hosts.forges import hosts_in, hosts_named
from hermes_backend_wall.hosts.mirrors import mirrors
from hermes_backend_wall.hosts.registries import names, registries, uploads
from hermes_backend_wall.hosts.remotes import configuration
from hermes_backend_wall.proxy.rules import Rules
from hermes_core.errors import UnknownName


def test_every_registry_is_read() -> None:
    every = registries()
    assert {rule.source for rule in every} == set(names())
    assert all(rule.private and not rule.port for rule in every)
    assert set(uploads()) <= {rule.host for rule in every}


def test_hosts_that_only_take_uploads_and_forges_are_not_open() -> None:
    rules = Rules(registries())
    closed = "upload.pypi.org test.pypi.org crates.io www.nuget.org hex.pm github.com api.github.com gitlab.com "
    closed += "storage.googleapis.com s3.amazonaws.com localhost"
    assert [host for host in closed.split() if rules.find(host, 443)] == []
    assert rules.find("files.pythonhosted.org", 443)


def test_some_can_be_chosen() -> None:
    assert {rule.source for rule in registries("pypi", "npm")} == {"pypi", "npm"}
    with pytest.raises(UnknownName):
        registries("pipy")


MIRRORS = {
    ".config/pip/pip.conf": "[global]\nindex-url = https://u:secret@pip.corp/simple\nextra-index-url =\n"
    "    https://pip2.corp:8443/x\n    # https://no.corp/\ntimeout = 3\nproxy = http://no.corp:1\n",
    ".config/uv/uv.toml": '[[index]]\nurl = "https://uv.corp/simple"\n[pip]\nindex-url = "https://uv2.corp/simple"\n',
    ".npmrc": "registry=https://npm.corp/\n@my-scope:registry=https://scope.corp\n//no.corp/:_authToken=secret\n",
    ".yarnrc": 'registry "https://yarn.corp/"\n',
    ".yarnrc.yml": 'npmScopes:\n  corp:\n    npmRegistryServer: "https://berry.corp"\n',
    ".cargo/config.toml": '[source.crates-io]\nreplace-with = "m"\n[source.m]\nregistry = "sparse+https://cargo.corp/i/"\n'
    '[http]\nproxy = "https://no.corp"\n',
    ".config/go/env": "GOPROXY=https://go.corp,direct\nGOFLAGS=-mod=mod\n",
    ".m2/settings.xml": "<settings><mirrors><mirror><url>https://maven.corp/m2</url></mirror></mirrors>"
    "<!-- <mirror><url>https://no.corp</url></mirror> --><proxies><url>https://no.corp</url></proxies></settings>",
    ".bundle/config": 'BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: "https://gems.corp"\n',
}


def test_mirrors_in_a_home_and_an_environment_are_open_in_the_persons_network_too(tmp_path: Path) -> None:
    for name, text in MIRRORS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    variables = {"PIP_INDEX_URL": "http://env.corp:3141/root", "UV_INDEX": "a=https://e2.corp/ https://e3.corp/"}
    variables |= {"CARGO_REGISTRIES_MY_INDEX": "sparse+https://e4.corp/", "OTHER_URL": "https://no.corp/"}
    found = mirrors(tmp_path, variables)
    hosts = {str(rule) for rule in found.rules if rule.source.startswith("~") or rule.source in variables}
    assert hosts == {
        *("pip.corp:443", "pip2.corp:8443", "uv.corp:443", "uv2.corp:443", "npm.corp:443", "scope.corp:443"),
        *("yarn.corp:443", "berry.corp:443", "cargo.corp:443", "go.corp:443", "maven.corp:443", "gems.corp:443"),
        *("env.corp:3141", "e2.corp:443", "e3.corp:443", "e4.corp:443"),
    }
    assert all(rule.private for rule in found.rules)
    assert "secret" not in repr(found)


def test_what_cannot_be_read_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo/config.toml").write_text("[source")
    (tmp_path / ".npmrc").write_text("registry=https://u:sec/ret@npm.corp/\n@a:registry=https://good.corp/\n")
    found = mirrors(tmp_path, {"GOPROXY": "https://go..corp"})
    assert [problem.partition(":")[0] for problem in found.problems] == ["GOPROXY", "~/.npmrc", "~/.cargo/config.toml"]
    assert "sec" not in repr(found)
    assert "good.corp" in {rule.host for rule in found.rules}


def test_a_workspace_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / ".npmrc").write_text("registry=https://evil.example/\n")
    monkeypatch.chdir(work)
    assert "evil.example" not in {rule.host for rule in mirrors(home, {}).rules}


def test_remotes_name_their_hosts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(
        '[core]\n\turl = https://no.example/\n[remote "origin"]\n\turl = git@github.com:a/b.git\n'
        '[remote "two"]\n\tURL = "https://u:secret@git.example:8443/x"\n\tpushurl = ssh://git@push.example:2222/x\n'
        '[remote "three"]\n\turl = ../elsewhere\n[branch "main"]\n\tremote = origin\n'
    )
    found = [str(rule) for rule in hosts_in(configuration(tmp_path), "remotes")]
    assert found[:2] == ["github.com", "codeload.github.com"]
    assert found[-2:] == ["git.example:8443", "push.example"]
    assert not any(rule.private for rule in hosts_in(configuration(tmp_path), "remotes"))
    assert configuration(tmp_path / "nothing") == ""


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        ("clone https://gitlab.com/a/b and build it", ["gitlab.com"]),
        ("Look at codeberg.org/x/y.", ["codeberg.org"]),
        ("push to git@git.corp.example:team/x.git", ["git.corp.example"]),
        ("see http://docs.example:8080/x, please", ["docs.example:8080"]),
        ("https://me:secret@host.example/x", ["host.example"]),
        ("run setup.py, read README.md and main.rs", []),
        ("my mail is me@example.org: thanks", []),
        ("notgithub.com/x evil-gitlab.com/x gitlab.com.evil.example/x", []),
        ("file:///etc/passwd and ../x and C:\\x", []),
    ],
)
def test_a_persons_words_name_hosts(words: str, hosts: list[str]) -> None:
    assert [str(rule) for rule in hosts_named(words)] == hosts


@given(words=st.text(max_size=80) | st.from_regex(r"https?://[^ ]{0,40}", fullmatch=True))
def test_any_words_are_read(words: str) -> None:
    for rule in hosts_named(words):
        assert rule.host

"""What would make the wall better, said as commands that a person may agree to."""

import pytest

from hermes_backend_wall import better as module
from hermes_backend_wall.better import better


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A Linux with these programs, and what the kernel says of its switches."""

    def made(*programs, user=1000, **switches):
        monkeypatch.setattr(module.sys, "platform", "linux")
        monkeypatch.setattr(module.os, "geteuid", lambda: user)
        monkeypatch.setattr(module.shutil, "which", lambda name: f"/usr/bin/{name}" if name in programs else None)
        monkeypatch.setattr(module.bwrap, "setting", lambda name: switches.get(name.rpartition("/")[2], ""))
        monkeypatch.setattr(module, "_PROFILES", tmp_path)

    return made


@pytest.mark.parametrize(
    ("programs", "words"),
    [
        (("sudo", "apt-get"), "sudo apt-get install -y bubblewrap"),
        (("doas", "apk"), "doas apk add bubblewrap"),
        (("sudo", "pacman", "xbps-install"), "sudo pacman -S --noconfirm bubblewrap"),
        (("sudo",), None),
        (("apt-get",), None),
        (("sudo", "apt-get", "bwrap"), None),
    ],
)
def test_bubblewrap_is_installed_by_the_systems_own_manager(machine, programs, words):
    machine(*programs)
    assert [list(one) for one in better()] == ([words.split()] if words else [])


def test_root_needs_nobody(machine):
    machine("dnf", user=0)
    assert [list(one) for one in better()] == [["dnf", "install", "-y", "bubblewrap"]]


def test_what_the_kernel_forbids_is_allowed_for_good(machine):
    machine("sudo", "bwrap", max_user_namespaces="0", unprivileged_userns_clone="1")
    ((*head, line),) = better()
    assert head == ["sudo", "sh", "-c"]
    assert line == (
        "echo 'user.max_user_namespaces = 15000' > /etc/sysctl.d/60-max_user_namespaces.conf "
        "&& sysctl --load=/etc/sysctl.d/60-max_user_namespaces.conf"
    )


def test_apparmor_lets_this_one_program(machine, tmp_path):
    machine("sudo", "bwrap", apparmor_restrict_unprivileged_userns="1")
    ((*_, line),) = better()
    assert "profile bwrap /usr/bin/bwrap" in line
    assert "> /etc/apparmor.d/bwrap &&" in line
    (tmp_path / "bwrap-userns-restrict").touch()
    assert better() == []


def test_elsewhere_there_is_nothing_to_run(machine, monkeypatch):
    machine("sudo", "apt-get")
    monkeypatch.setattr(module.sys, "platform", "darwin")
    assert better() == ()

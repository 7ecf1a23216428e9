"""Processes, users, disks, the kernel: what belongs to the whole machine."""

import re

from hermes_core.types import Effect
from hermes_tool_guard.judgement import Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.run import Program, Run, each, names


def _kill(run: Run) -> None:
    words = list(run.args)
    if words[:1] and words[0] in ("-l", "-L", "--list", "--table"):
        run.note(Class.READ)
        return
    targets = [w for w in words if not re.match(r"-(?:[A-Z]\w+|s$|\d{1,2}$|n$)", w)]
    if run.name == "killall5" or (
        run.name == "kill"
        and (
            "-1" in words[1:]
            or (words[-1:] == ["1"] and len(words) > 1)
            or words == ["1"]
            or ("--" in words and words[-1:] == ["-1"])
        )
    ):
        run.deny(Class.PROCESSES, "ends every process, or the first one")
    if run.name == "kill" and targets and all(re.match(r"%", t) for t in targets):
        run.note(Class.PROCESSES)
        return
    if run.name in ("pkill", "killall", "skill", "xkill", "fuser") and _everyone(run):
        run.deny(Class.PROCESSES, "ends every process, or all of somebody")
    if any("hermes" in w for w in words):
        run.ask(Class.HERMES, "ends Hermes itself")
    run.ask(Class.PROCESSES, "ends processes")


_ALL = re.compile(r"[\^.*+$\[\]a-zA-Z\\-]*")


def _everyone(run: Run) -> bool:
    """pkill and its kin without a name, or with one that is everybody's."""
    if run.name == "fuser":
        return any(a.startswith("-") and "k" in a for a in run.args) and any(
            zone is Zone.VITAL for a in run.args if a[:1] == "/" for _, zone in run._zones(a)
        )
    options = run.options(names("-u -U -G -g -P -s -t -F -n -y -o -Z -c --euid --uid --group --signal --user --ns"))
    if "-l" in run.args or "--list" in run.args:
        return False
    whose = options.has("-u", "-U", "--euid", "--uid", "--user") or (
        options.has("-v", "--inverse") and run.name == "pkill"
    )
    wide = [w for w in options.rest if (not re.search(r"\w", w) and _ALL.fullmatch(w)) or w == "[a-z]"]
    regular = run.name == "pkill" or options.has("-r", "--regexp")
    return bool(
        (wide and regular) or (whose and (not options.rest or options.has("-v", "--inverse"))) or run.args == ["-1"]
    )


_DESTROYS = re.compile(
    r"mkfs(?:\..+)?|mke2fs|mkdosfs|mkntfs|mkswap|wipefs|blkdiscard|fdisk|sfdisk|cfdisk|gdisk|sgdisk"
    r"|parted|newfs|hdparm|nvme|badblocks|lvremove|vgremove|pvremove|zpool|mdadm|cryptsetup|dmsetup"
    r"|flashrom|fwupdmgr|partprobe|losetup|swapoff|swapon|e2fsck|fsck(?:\..+)?|resize2fs|tune2fs"
    r"|debugfs|xfs_\w+|btrfs|zfs|lvcreate|vgcreate|pvcreate|lvextend|growpart|kpartx|format|diskutil"
    r"|dmidecode"
)
_DESTROYING = re.compile(
    r"hdparm .*--(?:security-erase|trim-sector)|nvme (?:format|sanitize|write-zeroes)|zpool (?:destroy|labelclear)"
    r"|zfs destroy|(?:lv|vg|pv)remove\b|cryptsetup (?:.* )?(?:luksFormat|luksErase|erase|format)"
    r"|mdadm .*--zero-superblock|diskutil (?:erase|reformat|zeroDisk|secureErase|partitionDisk|apfs delete)"
    r"|badblocks .*-w|dmsetup (?:remove|wipe)"
    r"|parted .*(?:mklabel|rm\b)|sfdisk .*(?:--delete|--wipe)|btrfs (?:device|subvolume) delete"
)
_NEVER = re.compile(r"mkfs(?:\..+)?|mke2fs|mkdosfs|mkntfs|mkswap|wipefs|blkdiscard|sgdisk|newfs")
_LOOKS = re.compile(
    r"-l$|-L$|--list|--version|-V$|--help|-h$|list$|status$|info$|id-ctrl$|smart-log$|print$|-I$|show$"
    r"|--detail|--show|--all$"
)


def _disk(run: Run) -> None:
    if _NEVER.fullmatch(run.name) and not any(a in ("--version", "-V", "--help", "-n", "--no-act") for a in run.args):
        image = [w for w in run.args if w[:1] != "-" and not w.isdigit()]
        if (
            image
            and all(z in (Zone.INSIDE, Zone.TEMPORARY) for _, z in run._zones(image[-1]))
            and run.name.startswith(("mkfs", "mke2fs", "mkswap"))
        ):
            run.write(image[-1])
            return
        run.deny(Class.KERNEL, f"destroys a file system with {run.name}")
    if _DESTROYING.match(f"{run.name} {' '.join(run.args)}"):
        run.deny(Class.KERNEL, f"destroys a disk or what is on it with {run.name}")
    if (
        run.name != "swapoff"
        and run.args
        and all(_LOOKS.match(a) or a.startswith("/dev/") for a in run.args if a[:1] == "-" or not a.startswith("/"))
        and any(_LOOKS.match(a) for a in run.args)
    ):
        run.note(Class.READ)
        return
    run.ask(Class.KERNEL, f"changes disks or file systems with {run.name}")


def _mount(run: Run) -> None:
    if run.name == "mount" and (
        not run.args or run.args in (["-l"], ["-V"]) or (run.args[:1] == ["-t"] and len(run.args) == 2)
    ):
        run.note(Class.READ)
        return
    if run.name == "umount" and run.options().has("-a", "--all"):
        run.deny(Class.KERNEL, "takes every mount away")
    run.ask(Class.KERNEL, f"changes what is mounted with {run.name}")


def _asks(what: Class, why: str, *, looks: str = "") -> Program:
    pattern = re.compile(looks) if looks else None

    def judge(run: Run) -> None:
        if (any(a in ("--version", "--help") for a in run.args) and len(run.args) == 1) or (
            pattern and pattern.fullmatch(" ".join(run.args))
        ):
            run.note(Class.READ)
        else:
            run.ask(what, f"{why} with {run.name}")

    return judge


def _power(run: Run) -> None:
    if run.name == "init" and run.args[:1] and run.args[0] not in ("0", "6", "1", "s", "S"):
        run.ask(Class.SERVICES, "changes the run level")
        return
    if run.name == "shutdown" and set(run.args) <= {"-c", "--show", "-k"}:
        run.ask(Class.SERVICES, "calls off, or announces, the end of the machine")
    if run.args and set(run.args) <= {"-w", "--wtmp-only"}:
        run.ask(Class.SERVICES, "notes down an end of the machine")
        return
    if not run.args or not (run.name == "shutdown" and set(run.args) <= {"-c", "--show", "-k"}):
        run.deny(Class.SERVICES, f"stops or restarts the machine with {run.name}")


_LISTS = (
    ["tools", "history"],
    ["approvals", "list"],
    ["grants", "list"],
    ["cron", "runs"],
    ["events", "log"],
    ["watch", "log"],
    ["webhook", "log"],
)


def _hermes(run: Run) -> None:
    words = [w for w in run.args if w[:1] != "-"]
    if words[:1] in (["sessions"], ["logs"]) or words[:2] in _LISTS:
        run.note(Class.READ, Effect.RECALL, Effect.NETWORK)  # what is in there may have come from outside
        run.ask(Class.READ, f"shows other conversations with hermes {' '.join(words[:2])}")
        if words[:2] in _LISTS:
            return
    if (
        not words
        or words[0] in ("doctor", "sessions", "insights", "tools", "logs")
        or words[:2]
        in (
            ["config", "get"],
            ["config", "show"],
            ["config", "check"],
            ["plugins", "list"],
            ["profile", "list"],
            ["guard", "check"],
        )
        or run.args in (["--version"], ["--help"])
    ):
        if any(a in ("--yolo", "-z", "-p") for a in run.args):
            run.ask(Class.HERMES, "starts another Hermes")
        elif words[:2] == ["sessions", "delete"] or words[:2] == ["sessions", "prune"]:
            run.ask(Class.HERMES, "deletes conversations of Hermes")
        run.note(Class.READ)
        return
    run.ask(Class.HERMES, f"drives Hermes itself with hermes {' '.join(words[:2])}")


def _sysctl(run: Run) -> None:
    if any("=" in a or a in ("-w", "--write", "-p", "--system", "--load") for a in run.args):
        run.ask(Class.KERNEL, "changes settings of the kernel")
    run.note(Class.READ)


def _looks_first(what: Class, why: str, looks: str) -> Program:
    allowed = frozenset(looks.split())

    def judge(run: Run) -> None:
        words = [w for w in run.args if w[:1] != "-"]
        if (words and words[0] in allowed) or (not words and (not run.args or set(run.args) & allowed)):
            run.note(Class.READ)
            return
        run.ask(what, f"{why} with {run.name} {' '.join(words[:2])[:40]}")

    return judge


def _editor_of(what: Class, why: str) -> Program:
    def judge(run: Run) -> None:
        if "-l" in run.args and "-r" not in run.args and run.name == "crontab":
            run.note(Class.READ)
            return
        if run.stdin and run.name == "crontab":
            for line in run.stdin.split("\n"):
                run.code(re.sub(r"^\s*(?:@\w+|(?:[\d*/,-]+\s+){5})", "", line))
        run.ask(what, f"{why} with {run.name}")

    return judge


_SHOWN = re.compile(r"(?i)[\w./-]+\.(?:html?|pdf|png|jpe?g|gif|svg|webp|txt|md|csv|log|mp4)|\.")


def _clipboard(run: Run) -> None:
    run.note(Class.WRITE, Effect.EXECUTE)


def _open(run: Run) -> None:
    shown = run.name in ("open", "xdg-open") and len(run.args) == 1 and _SHOWN.fullmatch(run.args[0])
    if shown and run.inside(run.args[0]):
        run.note(Class.READ, Effect.READ_FILES, Effect.EXECUTE)
        return
    run.ask(Class.CODE, f"opens something on the desktop with {run.name}")


_USERS = (
    "useradd userdel usermod adduser deluser groupadd groupdel groupmod addgroup delgroup passwd "
    "chpasswd chage gpasswd vipw vigr visudo chsh chfn newusers pwconv dscl faillock authselect "
    "pam-auth-update"
)
_KERNEL = (
    "insmod rmmod modprobe depmod kexec setterm sysrq kmod bpftool bpftrace ldconfig grub-install "
    "grub-mkconfig update-grub update-initramfs dracut mkinitcpio efibootmgr bootctl hwclock rtcwake "
    "setenforce semanage aa-disable aa-complain apparmor_parser auditctl iwconfig ethtool rfkill "
    "wpa_supplicant nmcli netplan ifup ifdown dhclient udevadm setkeycodes loadkeys xset xinput "
    "xdotool ydotool wtype devmem devmem2 i2cset setpci cpupower tuned-adm nvram systemsetup csrutil "
    "spctl nixos-rebuild"
)

PROGRAMS: dict[str, Program] = {
    **each(_kill, "kill killall pkill killall5 skill snice xkill fuser"),
    **each(_asks(Class.PROCESSES, "changes processes"), "renice disown bg fg suspend"),
    **each(_mount, "mount umount fusermount fusermount3 sshfs mount.nfs mount.cifs pmount udisksctl autofs"),
    **each(_power, "shutdown reboot halt poweroff init telinit pm-suspend pm-hibernate"),
    **{name: _asks(Class.USERS, "changes users or groups") for name in _USERS.split()},
    **{name: _asks(Class.KERNEL, "changes the kernel or hardware") for name in _KERNEL.split()},
    **dict.fromkeys(
        names(
            "mkfs mke2fs mkdosfs mkntfs mkswap wipefs blkdiscard fdisk sfdisk cfdisk gdisk sgdisk parted "
            "newfs hdparm nvme badblocks lvremove vgremove pvremove zpool mdadm cryptsetup dmsetup flashrom "
            "fwupdmgr losetup swapoff swapon fsck e2fsck resize2fs tune2fs debugfs btrfs zfs lvcreate "
            "vgcreate pvcreate lvextend growpart kpartx diskutil dmidecode mkfs.ext2 mkfs.ext3 mkfs.ext4 "
            "mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.exfat mkfs.f2fs mkfs.minix mkfs.msdos "
            "mkfs.jfs mkfs.reiserfs fsck.ext4 fsck.xfs xfs_repair xfs_growfs"
        ),
        _disk,
    ),
    **each(
        _asks(
            Class.KERNEL,
            "changes the firewall or the network",
            looks=(
                r"(?:-t \w+ )?(?:-[LSnv]+|list|status|--list-all|--state|show)(?: -?[\w-]+| --line-numbers)*"
                r"|list ruleset|status verbose|qdisc show.*|-s[rn]"
            ),
        ),
        "iptables ip6tables nft ufw firewall-cmd ebtables ipset pfctl tc",
    ),
    **each(
        _asks(Class.KERNEL, "changes the network", looks=r"(?:-a|-n|-e|[a-z]+\d+|show|link|addr)?(?: -n)?"),
        "ifconfig route iwlist brctl bridge arping",
    ),
    **each(_editor_of(Class.PERSISTENCE, "changes planned jobs"), "crontab anacron fcrontab"),
    **each(_hermes, "hermes hermes-agent"),
    **each(_clipboard, "pbcopy wl-copy clip clip.exe"),
    "sysctl": _sysctl,
    **each(
        _open,
        "xdg-open open gnome-open gio kde-open sensible-browser x-www-browser firefox chromium "
        "google-chrome chrome wslview start explorer.exe xterm gnome-terminal "
        "konsole kitty alacritty foot wezterm code subl atom idea zenity kdialog dialog whiptail gum fzf "
        "ranger nnn lf yazi xclip xsel pbpaste wl-paste import scrot maim "
        "gnome-screenshot flameshot arecord fswebcam logkeys xev screencapture claude codex gemini aider "
        "ollama llm",
    ),
    **each(_asks(Class.SERVICES, "writes to the system's log"), "logger kdestroy accton lastcomb auditd"),
    **each(
        _looks_first(
            Class.CONTAINERS, "drives virtual machines", "list status info version global-status ls net-list dominfo"
        ),
        "wineboot wine qemu-system-x86_64 qemu-img virsh virt-install VBoxManage vagrant multipass limactl colima orb",
    ),
}

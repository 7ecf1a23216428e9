"""Fetching plugins: asked about malware first, wheels only, written down, and never enabled by it."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hermes_core.control import PluginsBroker
from hermes_core.errors import UserError
from hermes_core.types import PluginRow
from hermes_platform_cli.commands.contents import Contents, installed_contents
from hermes_platform_cli.commands.names import (
    installed_own,
    own_names,
    refuse_imitation,
    refuse_kernel,
    refuse_stranger,
)
from hermes_platform_cli.commands.programs import run_program
from hermes_platform_cli.commands.requests import Package, note, wanted
from hermes_platform_cli.commands.unpacked import contents_of, fields_of, normalized, refuse_no_plugin, taken_over

__all__ = ["INDEX", "OSV", "install", "remove", "sync"]

INDEX = "https://pypi.org/simple"
OSV = "https://api.osv.dev/v1/query"
_LONGEST = 10_000_000  # bytes of an answer
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"  # of a host name
_FOUR_NUMBERS = r"(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}"
Say = Callable[[str], None]
_NAME = r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(?:==\s*(?P<version>[\w.!+-]+)\s*)?"


def install(
    requirement: str, plugins: PluginsBroker, *, binary_only: bool = True, index: str = INDEX, say: Say, osv: str = OSV
) -> None:
    """Install a plugin into this Python and note it in plugins.lock with a digest of its files. It is not enabled.

    It is unpacked and looked at first, from ``index`` and no other. Building from source runs the author's code, so
    only wheels are taken unless ``binary_only`` is off. Raises UserError when an advisory calls it malware, when it is
    no plugin, when its name imitates one of ours or is ours without being from us, when it needs another Hermes than
    this one, when it would run at every start of Python, when it is not what the lock says of this version, or when
    the installer fails; then nothing is noted.
    """
    name, version, remote = _understood(requirement.strip())
    _refuse_index(index)
    refuse_imitation(name)
    refuse_kernel(name)
    binary_only = binary_only or (remote and name in own_names())  # there is a wheel of each; who has none is not us
    if binary_only and not remote:
        _refuse_unbuilt(requirement.strip())
    if remote:
        _refuse_malware(name, version, osv, say)
    else:
        say(f"{requirement} is not from the package index; nobody was asked about it.")
    wheels = ["--only-binary", ":all:"] if binary_only else []
    found = _looked_at(name, [*wheels, requirement], index)
    before = next((one for one in wanted(plugins) if one.distribution == name), None)
    _compare(name, before, found, say)
    extras = re.search(r"\[[^\]]*\]", requirement)
    exactly = f"{name}{extras[0] if extras else ''}=={found.version}"
    with _held() as held:
        words = [*wheels, exactly if remote and not version else requirement]
        run_program("install", words, index=index, held=held, say=say)
    there = installed_contents(name)
    if there is not None and there.digest != found.digest:
        run_program("uninstall", [name])
        text = f"What was installed as {name} {there.version} is not what was looked at; it is removed again."
        raise UserError(text, hint="Try again; if it stays so, ask whoever runs the package index.")
    note(plugins, Package(name, requirement, binary_only, found.version, found.digest))
    say(f"Its files: sha256 {found.digest}, kept in plugins.lock.")
    say(f"Installed {name} {found.version}. It is not enabled: hermes plugins enable NAME")


def remove(installed: PluginRow, plugins: PluginsBroker, *, say: Say) -> None:
    """Uninstall a plugin's distribution and forget its consent; its settings stay. Raises UserError."""
    if not installed.distribution:
        raise UserError(f"Plugin {installed.label} is a file of yours.", hint=f"Delete {installed.path} yourself.")
    run_program("uninstall", [installed.distribution], say=say)
    plugins.forget(installed.distribution)
    say(f"Removed {installed.distribution}. Its settings stay in config.yaml.")


def sync(plugins: PluginsBroker, *, index: str = INDEX, say: Say, osv: str = OSV) -> None:
    """Install again what was wanted and is gone, after an upgrade took it away.

    One that cannot be installed does not keep the others from coming back. Raises UserError naming all that failed.
    """
    there = {plugin.distribution for plugin in plugins.list()}
    missing = [one for one in wanted(plugins) if one.distribution not in there]
    failed: list[str] = []
    for one in missing:
        try:
            install(one.requirement, plugins, binary_only=one.only_binary, index=index, say=say, osv=osv)
        except UserError as error:
            failed.append(error.text)
    if failed:
        raise UserError("\n".join(failed), hint="The others are there. hermes plugins sync tries again.")
    if not missing:
        say("Nothing is missing.")


def _understood(requirement: str) -> tuple[str, str, bool]:
    """Name, exact version if given, and whether the package index is meant. The name is needed to remember it by."""
    for address in (requirement, requirement.partition("@")[2].strip()):
        _must_be_sealed(address)
    wheel = re.fullmatch(r"(?:.*/)?(?P<name>\w[\w.]*)-(?P<version>[^-/]+)(?:-[^-/]+){3,4}\.whl", requirement)
    if wheel:
        return normalized(wheel["name"]), wheel["version"], False
    named = re.match(_NAME, requirement)
    rest = requirement[named.end() :].lstrip() if named else "/"
    if named is None or rest.startswith(("/", ":", "+")):
        hint = "Give a name such as hermes-tool-board, a wheel, or: NAME @ ADDRESS"
        raise UserError(f"{requirement!r} is not a package.", hint=hint)
    return normalized(named["name"]), named["version"] or "", not rest.startswith("@")


def _looked_at(name: str, arguments: Sequence[str], index: str) -> Contents:
    """The distribution alone, unpacked into a folder that no Python looks at."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="hermes-install-") as folder:
        run_program("install", ["--no-deps", "--target", folder, *arguments], index=index)
        _refuse_startup(name, found := contents_of(Path(folder), name))  # before a system's own of that name is seen
        refuse_stranger(name, found.version, fields_of(Path(folder), name))
        refuse_no_plugin(Path(folder), name)
        _refuse_needs(name, found)
        if taken := taken_over(Path(folder), name):
            text = f"{name} brings {', '.join(taken)}, which belongs to something else here. It was not installed."
            raise UserError(text, hint="No plugin needs that. Tell its author, or do not use it.")
        return found


@contextmanager
def _held() -> Iterator[str]:
    """A file that says which version of ours is here: no plugin brings another, whoever has our name on its index."""
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", prefix="hermes-held-", suffix=".txt") as file:
        file.writelines(f"{name}=={version}\n" for name, version in installed_own().items())
        file.flush()
        yield file.name


def _refuse_startup(name: str, found: Contents) -> None:
    if found.run_at_start:
        text = f"{name} {found.version} brings {', '.join(found.run_at_start)}, which Python runs at every start."
        raise UserError(
            f"{text} It was not installed.", hint="No plugin needs that; malicious packages do. If you trust it, pip."
        )


def _refuse_needs(name: str, found: Contents) -> None:
    """A dependency at an address of its own is built without anybody having named it."""
    if needs := [need for need in found.needs if re.match(r"[\w.-]+\s*(?:\[[^\]]*\])?\s*@", need)]:
        text = f"{name} {found.version} needs {', '.join(needs)}, which is not from the package index."
        raise UserError(f"{text} It was not installed.", hint="Tell its author: dependencies come from the index.")
    ours = {
        normalized(one[0]) for need in found.needs if "extra ==" not in need and (one := re.match(r"[\w.-]+", need))
    }
    if missing := sorted(ours & own_names() - set(installed_own())):
        text = f"{name} {found.version} needs {', '.join(missing)} of ours, which is not here. It was not installed."
        raise UserError(text, hint=f"hermes plugins install {missing[0]}   first; it is looked at by itself.")


def _refuse_unbuilt(requirement: str) -> None:
    """What is at an address or in a folder and is no wheel would be built, also where an installer is told not to."""
    address = requirement.partition("@")[2].strip() or requirement
    if not address.partition("#")[0].partition("?")[0].endswith(".whl"):
        text = f"{ascii(address[:200])[1:-1]} is no wheel: installing it runs its author's code on this machine."
        raise UserError(text, hint="Give the address of a wheel; --allow-sdist builds it all the same.")


def _refuse_index(index: str) -> None:
    here = re.fullmatch(r"http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?(?:/.*)?", index)
    if not here and not index.lower().startswith("https://"):
        raise UserError(f"platforms.cli.index is {index!r}, which is no https address.", hint="hermes config edit")
    if not here:
        _must_be_sealed(index)


def _compare(name: str, before: Package | None, found: Contents, say: Say) -> None:
    """Say what is new. Raises UserError when a version that was installed before is another one now."""
    if before is None or not before.digest:
        new = [need for need in found.needs if "extra ==" not in need]
        say(f"{name} {found.version} is new here. It needs: {', '.join(new) or 'nothing else'}.")
    elif before.version != found.version:
        say(f"{name}: {before.version} becomes {found.version}.")
    elif before.digest != found.digest:
        same = f"{name} {found.version}"
        text = f"{same} is not the {same} of plugins.lock: its files differ. It was not installed."
        hint = f"A version never changes. If you know why this one did: hermes plugins remove {name}, then install it."
        raise UserError(text, hint=hint)


def _must_be_sealed(address: str) -> None:
    """Code that comes without encryption may be anybody's. What an address of the web means must be beyond doubt."""
    if address.lower().startswith(("http:", "git+http:")):
        raise UserError(f"{address} is not encrypted; who is on the way could put in other code.", hint="Use https://.")
    if address.lower().startswith("https:") and (why := _doubtful(address)):
        text = f"{ascii(address[:200])[1:-1]} was not opened: {why}."
        raise UserError(text, hint="Give the address of a wheel; a key for it belongs into ~/.netrc.")


def _doubtful(address: str) -> str:
    """Why another program might read another host out of an address than a person does; empty when none would."""
    if not re.fullmatch(r"[!-\[\]-~]+", address):
        return "it holds a backslash, a space or a character that is not plain ASCII"
    parts = re.fullmatch(r"https://([^/?#]*).*", address, re.IGNORECASE)
    if not parts:
        return "https: is not followed by two slashes"
    if "@" in parts[1]:
        return "it holds a name or password before an @, which hides the real host behind it"
    host = re.fullmatch(rf"({_LABEL}(?:\.{_LABEL})*)\.?(?::[1-9]\d{{0,4}})?", parts[1].lower())
    if not host and not re.fullmatch(r"\[[0-9a-f:.]+\](?::[1-9]\d{0,4})?", parts[1].lower()):
        return "its host is no plain name"
    if host and re.fullmatch(r"(.*\.)?(\d+|0x[0-9a-f]*)", host[1]) and not re.fullmatch(_FOUR_NUMBERS, host[1]):
        return "its host is an unusual spelling of an IPv4 address; write four plain numbers"
    return ""


def _refuse_malware(name: str, version: str, osv: str, say: Say) -> None:
    from urllib.request import Request, urlopen

    asked = {"package": {"name": name, "ecosystem": "PyPI"}, **({"version": version} if version else {})}
    request = Request(osv, json.dumps(asked).encode(), {"Content-Type": "application/json"})  # noqa: S310 - https, ours
    try:
        with urlopen(request, timeout=5.0) as answer:  # noqa: S310 - https, ours
            found = json.loads(answer.read(_LONGEST)).get("vulns", [])
        reports = [row["id"] for row in found if row["id"].startswith("MAL-") and "withdrawn" not in row]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        say(f"osv.dev could not be asked whether {name} is malware ({error}); going on without its answer.")
        return
    if reports:
        text = f"{name} is reported as malware: {', '.join(reports)}. It was not installed."
        raise UserError(text, hint=f"Read https://osv.dev/vulnerability/{reports[0]}")

"""The container of a session's folder: how it is walled in, made, found again and cleared away."""

import hashlib
import json
import logging
import os
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import evolve

from hermes_backend_docker.config import Config
from hermes_backend_docker.daemon import Address, said
from hermes_backend_docker.image import pull
from hermes_backend_docker.mounts import inside, mountable
from hermes_backend_docker.scripts import MAIN
from hermes_backend_kit.files import sh
from hermes_core.errors import UserError
from hermes_core.values import frozen

__all__ = ["Plan", "ensure", "plan", "sweep"]

LAYOUT = "1"  # raised when containers of an older release must not be used again
LABEL = "hermes"
TRIES = 5
# What root in the container keeps: its own files. Nothing here reaches through a namespace.
_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER"]
_AS_ROOT = ["SETGID", "SETUID"]  # apt and su want to become somebody else; a host user never may


@frozen
class Plan:
    """What the container of a key is made of."""

    name: str
    key: str
    image: str
    cwd: str
    user: str
    volume: str
    labels: dict[str, str]
    create: dict[str, Any]
    init: bool = True

    @property
    def isolated(self) -> bool:
        """Whether nothing done inside reaches this machine."""
        return bool(self.volume) and self.offline

    @property
    def offline(self) -> bool:
        """Whether nothing done inside reaches a network."""
        return bool(self.create["network"] == "none")


def plan(config: Config, key: str, home: Path, address: Address, info: dict[str, Any]) -> Plan:
    """How a key's container is to be. Raises UserError."""
    place = os.path.realpath(os.path.expanduser(key)) if key else os.getcwd()  # noqa: PTH109, PTH111 - a key, no file
    cwd, volume, user = inside(place), f"hermes-{_digest(str(home), place)}", "0:0"
    if config.mount:
        if not address.local:
            raise UserError(
                f"docker: the daemon at {address.url} does not see this machine's folders.",
                hint="Set backends.docker.mount to false, or use a daemon on this machine.",
            )
        cwd, volume = mountable(key, home, address.socket), ""
        # Without root a container's user 0 is the person who runs the daemon: you.
        rootless = any("name=rootless" in option for option in info.get("SecurityOptions") or ())
        user = "0:0" if rootless else f"{os.getuid()}:{os.getgid()}"
    create = {
        "image": config.image,
        "network": "" if config.network else "none",
        "pids": config.pids if info.get("PidsLimit", True) else 0,
        "memory": config.memory if info.get("MemoryLimit", True) else "",
        "cpus": min(config.cpus, float(info.get("NCPU") or config.cpus)) if _can_limit_cpus(info) else 0.0,
        "disk": config.disk,
        "lifetime": config.lifetime_seconds,
        "user": user,
        "cwd": cwd,
        "volume": volume,
    }
    labels = {
        LABEL: LAYOUT,
        f"{LABEL}.home": str(home),
        f"{LABEL}.profile": home.name if home.parent.name == "profiles" else "default",
        f"{LABEL}.key": place,
    }
    name = f"hermes-{_digest(str(home), place, LAYOUT, json.dumps(create, sort_keys=True))}"
    return Plan(name, place, config.image, cwd, user, volume, labels, create)


def _can_limit_cpus(info: dict[str, Any]) -> bool:
    return bool(info.get("CpuCfsQuota", info.get("CPUCfsQuota", True)))


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:20]


def ensure(client: Any, wanted: Plan, log: logging.Logger) -> str:
    """The id of the running container of a plan; made, started or found. Blocking. Raises UserError.

    Two processes may be at it at once: whoever comes second finds what the first one made.
    """
    from hermes_backend_docker.sdk import APIError, ImageNotFound, NotFound

    trouble = "it does not stay up"
    for attempt in range(TRIES):
        time.sleep(0.2 * attempt)
        try:
            return _started(client, wanted)
        except ImageNotFound:
            pull(client, wanted.image, log)
        except NotFound:  # it was removed in between
            continue
        except APIError as error:
            trouble = said(error)
            if error.status_code == 409:  # somebody else makes, stops or removes it at this moment
                continue
            with suppress(APIError):
                client.remove_container(wanted.name, force=True)
            if not wanted.init or not any(name in trouble for name in ("docker-init", "catatonit")):
                raise _cannot(wanted, trouble) from error
            wanted = evolve(wanted, init=False)
    raise _cannot(wanted, trouble)


def _started(client: Any, wanted: Plan) -> str:
    from hermes_backend_docker.sdk import NotFound

    try:
        found = client.inspect_container(wanted.name)
    except NotFound:
        _create(client, wanted)
        found = client.inspect_container(wanted.name)
    if not _ours(found, wanted):
        raise UserError(
            f"docker: there is a container {wanted.name} that is not Hermes's.", hint="Rename or remove it."
        )
    if found["State"].get("Paused"):
        client.unpause(found["Id"])
    if not found["State"]["Running"]:
        client.start(found["Id"])
    return str(found["Id"])


def _ours(found: dict[str, Any], wanted: Plan) -> bool:
    there = found["Config"].get("Labels") or {}
    return all(there.get(name) == value for name, value in wanted.labels.items())


def _cannot(wanted: Plan, trouble: str) -> UserError:
    hint = "`hermes doctor --deep` looks at the daemon."
    if '"sh"' in trouble or "executable file not found" in trouble:
        return UserError(f"docker: the image {wanted.image} has no sh.", hint="Set backends.docker.image to another.")
    if "storage-opt" in trouble or "--storage" in trouble:
        hint = "This storage driver cannot limit a container's disk: set backends.docker.disk to ''."
    elif "mounts denied" in trouble or "not shared" in trouble:
        hint = "Share the folder in the settings of Docker Desktop."
    return UserError(f"docker: the container for {wanted.key} cannot be started: {trouble}.", hint=hint)


def _create(client: Any, wanted: Plan) -> None:
    from hermes_backend_docker.sdk import Mount

    made, uid = wanted.create, wanted.user.partition(":")[0]
    own = f"uid={uid},gid={wanted.user.partition(':')[2]}"
    as_root = wanted.user == "0:0" and bool(wanted.volume)
    tmpfs = {
        "/tmp": "rw,nosuid,nodev,exec,size=512m,mode=1777",  # noqa: S108
        "/var/tmp": "rw,nosuid,nodev,noexec,size=256m,mode=1777",  # noqa: S108
        "/run": "rw,nosuid,nodev,noexec,size=64m,mode=1777",
    }
    environment = {}
    if wanted.volume:
        client.create_volume(wanted.volume, labels=wanted.labels)
        mounts = [Mount(target=wanted.cwd, source=wanted.volume, type="volume")]
    else:
        mounts = [Mount(target=wanted.cwd, source=wanted.cwd, type="bind", propagation="rprivate")]
        if uid != "0":  # nobody in the image has this number, so it has no home there
            environment["HOME"] = "/home/hermes"
            tmpfs["/home/hermes"] = f"rw,nosuid,nodev,exec,size=1g,mode=0700,{own}"
    host = client.create_host_config(
        cap_drop=["ALL"],
        cap_add=_CAPABILITIES + (_AS_ROOT if as_root else []),
        security_opt=["no-new-privileges"],
        network_mode=made["network"] or None,
        pids_limit=made["pids"] or None,
        mem_limit=made["memory"] or None,
        memswap_limit=made["memory"] or None,  # no swap beyond it: the limit is the limit
        nano_cpus=int(made["cpus"] * 1e9) or None,
        storage_opt={"size": made["disk"]} if made["disk"] else None,
        tmpfs=tmpfs,
        mounts=mounts,
        init=wanted.init,
        ipc_mode="private",
        privileged=False,
        log_config={"Type": "none"},
        restart_policy={"Name": "no"},
    )
    step = max(1, min(30, made["lifetime"] // 4))
    client.create_container(
        wanted.image,
        name=wanted.name,
        entrypoint=list(sh(MAIN, str(made["lifetime"]), str(step))),
        command=[],
        environment=environment,
        host_config=host,
        labels=wanted.labels,
        user=wanted.user,
        working_dir="/",
        network_disabled=False,
        use_config_proxy=False,  # a proxy's address may hold a password
        healthcheck={"test": ["NONE"]},
    )


def sweep(client: Any, home: Path, keep_days: float, wanted: str, log: logging.Logger) -> int:
    """Remove stopped containers of this home that nobody used for long, or that are not as they should be any more.

    Gives how many. Blocking. A container that runs is left alone: it stops by itself.
    """
    from hermes_backend_docker.sdk import APIError, NotFound

    removed = 0
    filters = {"label": [f"{LABEL}.home={home}"], "status": ["exited", "dead"]}
    for one in client.containers(all=True, filters=filters):
        try:
            found = client.inspect_container(one["Id"])
            old = (datetime.now(UTC) - _time(found["State"].get("FinishedAt", ""))).total_seconds() > keep_days * 86_400
            if found["Name"].lstrip("/") != wanted and old:
                client.remove_container(one["Id"])  # not by force: one that was just started again stays
                removed += 1
        except NotFound:
            continue
        except APIError as error:
            log.info("the container %s was not removed: %s", one["Id"][:12], said(error))
    return removed


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
    except ValueError:
        return datetime.now(UTC)

"""Giving a skill to others: held against the standard, then written as files of a site, or sent to a registry."""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_tool_kit.fetching import Order
from hermes_tool_skills.disk import write_file, write_json
from hermes_tool_skills.draft import Draft, checked
from hermes_tool_skills.fetch import answer_of
from hermes_tool_skills.hub.asked import refuse, text
from hermes_tool_skills.hub.index import PLACE, SCHEMA
from hermes_tool_skills.standard import breaches
from hermes_tool_skills.tree import MAIN, Tree, text_of

_SEMVER = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?")


def ready(ctx: PluginContext, tree: Tree) -> Draft:
    """A skill that may be given away. Raises UserError that names everything that is in the way."""
    draft = checked(tree)
    if problems := breaches(text_of(tree[MAIN]) or ""):
        told = "\n".join(f"  {problem}" for problem in problems)
        raise UserError(f"{MAIN} does not hold to the standard:\n{told}", hint="https://agentskills.io/specification")
    for path, data in tree.items():
        words = text_of(data)
        if words is not None and ctx.masks.text(words) != words:
            raise UserError(f"{path} holds a secret of yours, so nothing is published.", hint="Take it out.")
    if draft.report.verdict == "dangerous":
        raise UserError("The scan calls it dangerous, so it is not published.", hint="hermes skills scan says why.")
    return draft


def to_site(site: Path, draft: Draft) -> list[str]:
    """Write the skill and its line of the index below a folder that a site is served from. The index comes last."""
    name, folder = draft.head.name, site / PLACE
    index = folder / "index.json"
    try:
        data = json.loads(index.read_bytes())
        rows = [row for row in data["skills"] if row["name"] != name]
        if data.get("$schema") != SCHEMA:
            raise ValueError("it is of another form")
    except FileNotFoundError:
        rows = []
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{index} cannot be read: {error}.", hint="Mend it, or move it away.") from None
    single = draft.tree.keys() == {MAIN}
    artifact = draft.tree[MAIN] if single else packed(draft.tree)
    path = f"{name}/{MAIN}" if single else f"{name}.tar.gz"
    row: dict[str, JSON] = {
        "name": name, "type": "skill-md" if single else "archive", "description": draft.head.description,
        "url": f"/{PLACE}/{path}", "digest": f"sha256:{hashlib.sha256(artifact).hexdigest()}",
    }  # fmt: skip
    write_file(folder / path, artifact)
    write_json(index, {"$schema": SCHEMA, "skills": sorted([*rows, row], key=lambda one: str(one["name"]))})
    for file in (folder, folder / path, (folder / path).parent, index):
        os.chmod(file, 0o755 if file.is_dir() else 0o644)  # noqa: PTH101 - a server of another user reads them
    return [f"Wrote {folder / path} and {index}.", f"From the site: hermes skills install index:https://SITE#{name}"]


def packed(tree: Tree) -> bytes:
    """The files as a .tar.gz, the same bytes for the same files."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file, tarfile.open(fileobj=file, mode="w") as archive:
        for path in sorted(tree):
            info = tarfile.TarInfo(path)
            info.size = len(tree[path])
            archive.addfile(info, io.BytesIO(tree[path]))
    return out.getvalue()


def to_clawhub(ctx: PluginContext, base: str, draft: Draft, *, version: str, owner: str, note: str) -> str:
    """Send the skill as a new version: one form, the payload and the files. Raises UserError."""
    token = ctx.secrets.get("CLAWHUB_TOKEN")
    if not token:
        hint = "Make one on its settings page, then: hermes config set CLAWHUB_TOKEN VALUE"
        raise UserError("There is no token for ClawHub.", hint=hint)
    if not _SEMVER.fullmatch(version):
        raise UserError(f"{version!r} is no version such as 1.0.0.", hint="Say --version.")
    name = draft.head.name
    payload: dict[str, JSON] = {
        "slug": name, "displayName": name.replace("-", " ").capitalize(), "version": version, "changelog": note,
        "acceptLicenseTerms": True, "tags": ["latest"], **({"ownerHandle": owner} if owner else {}),
    }  # fmt: skip
    kind, body = form(payload, draft.tree)
    headers = {"Content-Type": kind, "Authorization": f"Bearer {token}", "Accept": "application/json"}
    address = f"{base.rstrip('/')}/api/v1/skills"
    answer = answer_of(address, limit=100_000, order=Order("POST", headers, body))
    refuse(address, answer.status, answer.headers, answer.body)
    try:
        data = json.loads(answer.body)
    except ValueError:
        data = {}
    state = text(data, "publicationStatus", "status") or "submitted"
    return f"Sent {name} {version} to {base}: {state}."


def form(payload: JSON, tree: Tree) -> tuple[str, bytes]:
    """The multipart form of a payload and files, and its content type."""
    edge = f"hermes-{os.urandom(16).hex()}"
    parts = [f'--{edge}\r\nContent-Disposition: form-data; name="payload"\r\n\r\n{json.dumps(payload)}\r\n'.encode()]
    for path in sorted(tree):
        name = path.replace('"', "%22")
        head = f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
        parts += [f"{head}Content-Type: application/octet-stream\r\n\r\n".encode(), tree[path], b"\r\n"]
    return f"multipart/form-data; boundary={edge}", b"".join([*parts, f"--{edge}--\r\n".encode()])

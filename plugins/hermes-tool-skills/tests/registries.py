"""A server that speaks as each source of skills does, as far as their documents say how: for the tests of the hub.

ClawHub's ``/api/v1`` (its docs/http-api.md), the search of skills.sh that ``npx skills find`` uses, Agent Skills
Discovery 0.2.0 and 0.1.0, and the archives of GitHub.
"""

import hashlib
import http.server
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qs, urlsplit

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"


def main(name: str, body: str = "1. Look.", description: str = "Use it when it fits.") -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n".encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return out.getvalue()


def tarred(files: Mapping[str, bytes], commit: str = "") -> bytes:
    out = io.BytesIO()
    headers = {"comment": commit} if commit else {}
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers=headers) as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


class Registries(http.server.ThreadingHTTPServer):
    """All of them at one address. ``claws``: slug -> what ClawHub has of it; ``sites``: path -> bytes and type."""

    def __init__(self) -> None:
        self.claws: dict[str, dict[str, Any]] = {}
        self.sites: dict[str, tuple[bytes, str]] = {}
        self.catalogue: list[dict[str, Any]] = []
        self.published: list[tuple[dict[str, Any], dict[str, bytes], str]] = []
        self.asked: list[str] = []
        self.busy = False
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def at(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def index(self, entries: list[dict[str, Any]], schema: str = SCHEMA) -> None:
        """Publish an index as a site of version 0.2.0 does."""
        data = json.dumps({"$schema": schema, "skills": entries}).encode()
        self.sites["/.well-known/agent-skills/index.json"] = data, "application/json"

    def entry(self, name: str, artifact: bytes, path: str, kind: str) -> dict[str, Any]:
        self.sites[path] = artifact, "application/gzip" if kind == "archive" else "text/markdown"
        digest = f"sha256:{hashlib.sha256(artifact).hexdigest()}"
        return {"name": name, "type": kind, "description": f"About {name}.", "url": path, "digest": digest}


class Handler(http.server.BaseHTTPRequestHandler):
    server: Registries

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {key: value[0] for key, value in parse_qs(parts.query).items()}
        self.server.asked.append(self.path)
        if self.server.busy:
            return self._send(b"Rate limit exceeded", "text/plain", 429, {"Retry-After": "34"})
        if parts.path in self.server.sites:
            data, kind = self.server.sites[parts.path]
            return self._send(data, kind)
        if parts.path == "/api/search":
            hits = [row for row in self.server.catalogue if query["q"] in json.dumps(row)]
            return self._json({"skills": hits})
        if parts.path.startswith("/api/v1/"):
            return self._claw(parts.path.removeprefix("/api/v1/"), query)
        return self._send(b"Not found", "text/plain", 404)

    def _claw(self, path: str, query: Mapping[str, str]) -> None:
        claws = self.server.claws
        if path == "search":
            hits = [
                {"slug": slug, "summary": c["summary"], "version": c["version"], "ownerHandle": c["owner"]}
                for slug, c in claws.items() if query["q"] in c["summary"]
            ]  # fmt: skip
            return self._json({"results": hits})
        if path == "skills":
            rows = [
                {"slug": slug, "summary": c["summary"], "stats": {"downloads": 1234}, "owner": {"handle": c["owner"]},
                 "latestVersion": {"version": c["version"]}}
                for slug, c in claws.items()
            ]  # fmt: skip
            return self._json({"items": rows, "nextCursor": None})
        slug = query.get("slug") or path.removeprefix("skills/")
        claw = claws.get(slug)
        if claw is None:
            return self._send(b"Skill not found", "text/plain", 404)
        if path == "download":
            if "handoff" in claw:
                return self._json({"sourceRef": "public-github", **claw["handoff"]})
            return self._send(zipped(claw["files"]), "application/zip")
        about = {"skill": {"slug": slug}, "latestVersion": {"version": claw["version"]}}
        return self._json({**about, "owner": {"handle": claw["owner"]}, "moderation": claw.get("moderation")})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != "Bearer clh_good":
            return self._send(b"The token is invalid or was revoked.", "text/plain", 401)
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = BytesParser(policy=HTTP).parsebytes(head + data)
        payload: dict[str, Any] = {}
        files: dict[str, bytes] = {}
        for part in form.iter_parts():
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            if part.get_param("name", header="content-disposition") == "payload":
                payload = json.loads(content)
            else:
                files[str(part.get_filename())] = content
        self.server.published.append((payload, files, self.path))
        return self._json({"ok": True, "skillId": "s", "versionId": "v", "publicationStatus": "pending"})

    def _json(self, data: Any) -> None:
        self._send(json.dumps(data).encode(), "application/json; charset=utf-8")

    def _send(self, data: bytes, kind: str, status: int = 200, more: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving() -> Iterator[Registries]:
    made = Registries()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        made.shutdown()
        made.server_close()
        thread.join()

"""A server that answers as Honcho does, as far as this memory asks it.

What it is asked is held to the SDK's own models of requests, which refuse what is too much, and what it answers is
written by the models of answers. Status codes and delays are those of Honcho's routers: a workspace with active
sessions is not deleted, a session that is deleted is inactive at once. It thinks as little as can be: of each
sentence of a peer that is observed it makes a conclusion.
"""

import json
import math
import re
import threading
import uuid
import zlib
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from honcho import api_types as types
from pydantic import ValidationError

KEY = "hch-v3-a-key-of-a-test"
START = datetime(2026, 1, 1, tzinfo=UTC)


class Refused(Exception):
    def __init__(self, status, detail):
        super().__init__(detail)
        self.status, self.detail = status, detail


def vector(text):
    made, plain = [0.0] * 256, f" {text.casefold()} "
    for at in range(len(plain) - 1):
        made[zlib.crc32(plain[at : at + 2].encode()) % 256] += 1.0
    for word in plain.split():
        made[zlib.crc32(word.strip(".,?!:").encode()) % 256] += 2.0
    return made


def distance(one, other):
    a, b = vector(one), vector(other)
    return 1 - sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))


class Server:
    """``workspaces`` are what it keeps, by name; ``asked`` the requests; ``broken`` makes it answer 503."""

    def __init__(self, key=KEY):
        self.key, self.workspaces, self.asked, self.broken, self._ticks = key, {}, [], False, 0
        server, self._lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def _do(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"null")
                where = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(where.query).items()}
                try:
                    with server._lock:
                        status, told = server._answer(self.command, where.path, query, body, self.headers)
                except Refused as refused:
                    status, told = refused.status, {"detail": refused.detail}
                except ValidationError as error:
                    status, told = 422, {"detail": str(error)}
                data = b"" if told is None else json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = _do

            def log_message(self, *_):
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()

    def now(self):
        self._ticks += 1
        return START + timedelta(seconds=self._ticks)

    def _answer(self, method, path, query, body, headers):
        self.asked.append((method, path, body))
        if self.broken:
            raise Refused(503, "Not now.")
        if self.key and headers.get("Authorization") != f"Bearer {self.key}":
            raise Refused(401, "Invalid JWT")
        for pattern, verb, work in ROUTES:
            if verb == method and (found := re.fullmatch(pattern, path)):
                return work(self, *found.groups(), query=query, body=body)
        raise Refused(404, f"{method} {path}")

    def _workspace(self, name):
        if name not in self.workspaces:
            raise Refused(404, f"Workspace {name} not found")
        return self.workspaces[name]

    def make_workspace(self, *, query, body):
        wanted = types.WorkspaceCreateParams.model_validate(body)
        fresh = wanted.id not in self.workspaces
        made = self.workspaces.setdefault(
            wanted.id, {"peers": {}, "sessions": {}, "conclusions": {}, "cards": {}, "messages": [], "at": self.now()}
        )
        return (201 if fresh else 200), _plain(types.WorkspaceResponse(id=wanted.id, created_at=made["at"]))

    def delete_workspace(self, name, *, query, body):
        there = self._workspace(name)
        if any(one["active"] for one in there["sessions"].values()):
            raise Refused(409, "Workspace has active sessions")
        del self.workspaces[name]
        return 202, {"message": "Workspace deletion accepted"}

    def make_peer(self, name, *, query, body):
        wanted, there = types.PeerCreateParams.model_validate(body), self._workspace(name)
        peer = there["peers"].setdefault(wanted.id, {"at": self.now(), "seen": True})
        if wanted.configuration and wanted.configuration.observe_me is not None:
            peer["seen"] = wanted.configuration.observe_me
        return 200, _plain(types.PeerResponse(id=wanted.id, workspace_id=name, created_at=peer["at"]))

    def get_card(self, name, peer, *, query, body):
        card = self._workspace(name)["cards"].get((peer, query.get("target", peer)))
        return 200, _plain(types.PeerCardResponse(peer_card=card))

    def set_card(self, name, peer, *, query, body):
        self._workspace(name)["cards"][peer, query.get("target", peer)] = body["peer_card"]
        return 200, _plain(types.PeerCardResponse(peer_card=body["peer_card"]))

    def make_session(self, name, *, query, body):
        wanted, there = types.SessionCreateParams.model_validate(body), self._workspace(name)
        made = there["sessions"].setdefault(wanted.id, {"at": self.now(), "active": True})
        told = types.SessionResponse(id=wanted.id, workspace_id=name, is_active=made["active"], created_at=made["at"])
        return 201, _plain(told)

    def list_sessions(self, name, *, query, body):
        rows = [
            _plain(types.SessionResponse(id=one, workspace_id=name, is_active=True, created_at=made["at"]))
            for one, made in self._workspace(name)["sessions"].items()
            if made["active"]
        ]
        return 200, _page(rows, query)

    def delete_session(self, name, session, *, query, body):
        there = self._workspace(name)
        there["sessions"][session]["active"] = False
        there["messages"] = [one for one in there["messages"] if one.session_id != session]
        return 202, {"message": "Session deleted successfully"}

    def add_messages(self, name, session, *, query, body):
        wanted, there, told = types.MessageBatchCreateParams.model_validate(body), self._workspace(name), []
        for one in wanted.messages:
            made = types.MessageResponse(
                id=uuid.uuid4().hex, content=one.content, peer_id=one.peer_id, session_id=session,
                created_at=self.now(), workspace_id=name, token_count=len(one.content),
            )  # fmt: skip
            there["messages"].append(made)
            told.append(_plain(made))
            if there["peers"][one.peer_id]["seen"]:
                for sentence in re.findall(r"[^.!?]+\.", one.content):
                    self._conclude(there, f"{one.peer_id} said: {sentence.strip()}", one.peer_id, one.peer_id, session)
        return 201, told

    def _conclude(self, there, content, observer, observed, session=None):
        made = types.ConclusionResponse(
            id=uuid.uuid4().hex[:21], content=content, observer_id=observer, observed_id=observed,
            session_id=session, created_at=self.now(),
        )  # fmt: skip
        there["conclusions"][made.id] = made
        return made

    def make_conclusions(self, name, *, query, body):
        wanted, there = types.ConclusionBatchCreateParams.model_validate(body), self._workspace(name)
        made = [
            self._conclude(there, one.content.replace("\x00", ""), one.observer_id, one.observed_id, one.session_id)
            for one in wanted.conclusions
        ]
        return 201, [_plain(one) for one in made]

    def _seen(self, there, filters):
        unknown = set(filters or {}) - {"observer_id", "observed_id", "session_id"}
        assert not unknown, f"the stand-in does not know the filters {unknown}"
        rows = [c for c in there["conclusions"].values() if all(getattr(c, k) == v for k, v in (filters or {}).items())]
        return sorted(rows, key=lambda one: one.created_at, reverse=True)

    def list_conclusions(self, name, *, query, body):
        wanted = types.ConclusionListParams.model_validate(body or {})
        return 200, _page([_plain(one) for one in self._seen(self._workspace(name), wanted.filters)], query)

    def query_conclusions(self, name, *, query, body):
        wanted = types.ConclusionQueryParams.model_validate(body)
        if not {"observer_id", "observed_id"} <= set(wanted.filters or {}):
            raise Refused(422, "observer and observed must be specified for semantic search.")
        rows = sorted((distance(wanted.query, one.content), one.id, one)
                      for one in self._seen(self._workspace(name), wanted.filters))  # fmt: skip
        near = [one for far, _, one in rows if wanted.distance is None or far <= wanted.distance]
        return 200, [_plain(one) for one in near[: wanted.top_k]]

    def delete_conclusion(self, name, conclusion, *, query, body):
        if self._workspace(name)["conclusions"].pop(conclusion, None) is None:
            raise Refused(404, "Conclusion not found")
        return 204, None


def _plain(value):
    return value.model_dump(mode="json")


def _page(rows, query):
    page, size = int(query.get("page", 1)), int(query.get("size", 50))
    assert size <= 100, "the server takes no larger pages"
    some = rows[(page - 1) * size : page * size]
    return {"items": some, "total": len(rows), "page": page, "size": size, "pages": -(-len(rows) // size)}


W = "/v3/workspaces"
ROUTES = [
    (W, "POST", Server.make_workspace),
    (f"{W}/([^/]+)", "DELETE", Server.delete_workspace),
    (f"{W}/([^/]+)/peers", "POST", Server.make_peer),
    (f"{W}/([^/]+)/peers/([^/]+)/card", "GET", Server.get_card),
    (f"{W}/([^/]+)/peers/([^/]+)/card", "PUT", Server.set_card),
    (f"{W}/([^/]+)/sessions", "POST", Server.make_session),
    (f"{W}/([^/]+)/sessions/list", "POST", Server.list_sessions),
    (f"{W}/([^/]+)/sessions/([^/]+)", "DELETE", Server.delete_session),
    (f"{W}/([^/]+)/sessions/([^/]+)/messages", "POST", Server.add_messages),
    (f"{W}/([^/]+)/conclusions", "POST", Server.make_conclusions),
    (f"{W}/([^/]+)/conclusions/list", "POST", Server.list_conclusions),
    (f"{W}/([^/]+)/conclusions/query", "POST", Server.query_conclusions),
    (f"{W}/([^/]+)/conclusions/([^/]+)", "DELETE", Server.delete_conclusion),
]

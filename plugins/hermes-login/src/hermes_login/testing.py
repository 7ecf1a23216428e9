"""An authorization server on this machine, for tests: it checks every parameter, and can be told to be hostile.

It follows RFC 6749, 7523, 7636 and 8628 more strictly than real ones: a parameter too much is refused too, a code and a
refresh token are good once, and a refresh token that comes again ends the whole login.
"""

import asyncio
import json
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

from attrs import Factory, define

__all__ = ["AuthServer"]

_GRANT = "urn:ietf:params:oauth:grant-type:"


class _Asked(Protocol):
    """One request that came."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes


@define
class AuthServer:
    """``service`` is a ``ModelService`` of ``hermes_core.testing``, which hears and answers; ``url`` is its address.

    ``pending`` are the answers to questions after a code, until it was typed. ``hostile`` are whole replies by path.

    ``secret`` is what the client has to know, ``proof`` wants one of who types a code, ``dialect`` is that of a row,
    ``refresh_header`` the only place for a refresh token, ``signer`` the public key of a service account, for whom
    ``minted_for`` says who a token was given to. Refresh tokens of one that does not ``rotates`` stay good.

    ``wrong`` lists every parameter that was not as it has to be; it is empty at the end of a good test.
    """

    service: Any
    url: str
    client_id: str = "hermes-test"
    scope: str = "read offline"
    expires_in: Any = 3600
    exchange_ends: float = 4e9
    interval: int = 5
    pending: list[str] = Factory(list)
    hostile: dict[str, bytes] = Factory(dict)
    wrong: list[str] = Factory(list)
    refreshed: int = 0
    exchanged: int = 0
    reply: dict[str, Any] = Factory(dict)
    secret: str = ""
    proof: bool = False
    dialect: str = ""
    refresh_header: str = ""
    signer: str = ""
    rotates: bool = True
    minted_for: str = ""
    _count: int = 0
    _good: set[str] = Factory(set)
    _used: set[str] = Factory(set)
    _codes: dict[str, Mapping[str, str]] = Factory(dict)

    def row(self, **over: Any) -> dict[str, Any]:
        """Return the row of a service that logs in here."""
        return {
            "name": "acme",
            "title": "Acme",
            "client_id": self.client_id,
            "scopes": self.scope.split(),
            "flow": "device",
            "device_url": f"{self.url}/device",
            "authorize_url": f"{self.url}/authorize",
            "token_url": f"{self.url}/token",
            "hosts": ["127.0.0.1"],
            **over,
        }

    def minted(self) -> tuple[str, str]:
        """Make an access and a refresh token that are good."""
        self._count += 1
        access, refresh = f"acc-{self._count:012d}-zQ7", f"ref-{self._count:012d}-zQ7"
        self._good |= {access, refresh}
        return access, refresh

    def revoke(self) -> None:
        """End everything that was given."""
        self._good.clear()

    def is_good(self, token: str) -> bool:
        """Tell whether a token counts."""
        return token in self._good

    async def agree(self, page: str) -> bytes:
        """Do what a browser does whose person agrees on a page: follow where it leads; the reply it ends at."""
        return await _get(_location(await _get(page)))

    def install(self) -> None:
        """Answer under the paths of the endpoints."""
        handlers: dict[str, Callable[[_Asked], bytes]] = {
            "/device": self._device,
            "/token": self._token,
            "/authorize": self._authorize,
            "/exchange": self._exchange,
        }
        for path, handler in handlers.items():
            self.service.by_path[path] = self._answering(path, handler)

    def _answering(
        self, path: str, handler: Callable[[_Asked], bytes]
    ) -> Callable[[asyncio.StreamWriter], Awaitable[bool]]:
        async def answer(writer: asyncio.StreamWriter) -> bool:
            asked = self.service.asked[-1]
            writer.write(self.hostile.get(path) or handler(asked))
            await writer.drain()
            return False

        return answer

    def _refused(self, word: str, why: str) -> bytes:
        self.wrong.append(why)
        return _http(400, json.dumps({"error": word, "error_description": why}))

    def _form(self, asked: _Asked, *names: str) -> dict[str, str] | bytes:
        if asked.method != "POST" or asked.headers.get("content-type") != "application/x-www-form-urlencoded":
            return self._refused("invalid_request", "not a form that was posted")
        if asked.headers.get("accept") != "application/json" or "?" in asked.path:
            return self._refused("invalid_request", "asks for no JSON, or in the address")
        pairs = parse_qsl(asked.raw.decode(), keep_blank_values=True)
        form = dict(pairs)
        if len(pairs) != len(form) or (names and form.keys() != set(names)):
            return self._refused("invalid_request", f"parameters {sorted(form)} instead of {sorted(names)}")
        if form.get("grant_type", "").endswith(":jwt-bearer"):
            return form  # who signs is who asks
        if form.get("client_id") != self.client_id:
            return self._refused("invalid_client", "another client")
        if "grant_type" in form and form.pop("client_secret", "") != self.secret:
            return self._refused("invalid_client", "another secret")
        return form

    def _device(self, asked: _Asked) -> bytes:
        own = self.dialect == "user_code"
        proof = ("code_challenge", "code_challenge_method") if self.proof else ()
        form = self._form(asked, "client_id", "scope", *proof, *(("response_type", "state") if own else ()))
        if isinstance(form, bytes):
            return form
        if form["scope"] != self.scope or form.get("response_type", "code") != "code":
            return self._refused("invalid_scope", "another scope, or another kind of answer")
        if self.proof and form["code_challenge_method"] != "S256":
            return self._refused("invalid_request", "another method of proof")
        begun: dict[str, Any] = {"user_code": "WDJB-MJHT", "verification_uri": f"{self.url}/activate"}
        if own:
            self._codes["WDJB-MJHT"] = form
            milliseconds = int((time.time() + 900) * 1000)
            begun |= {"expired_in": milliseconds, "interval": self.interval * 1000, "state": form["state"]}
        else:
            self._codes["device-code-0001"] = form
            begun |= {"device_code": "device-code-0001", "expires_in": 900, "interval": self.interval}
        return _http(200, json.dumps(begun))

    def _token(self, asked: _Asked) -> bytes:
        form = self._form(asked)
        if isinstance(form, bytes):
            return form
        handler = {
            f"{_GRANT}{self.dialect or 'device_code'}": self._by_device,
            f"{_GRANT}jwt-bearer": self._by_signature,
            "authorization_code": self._by_code,
            "refresh_token": self._by_refresh,
        }.get(form.get("grant_type", ""))
        if handler == self._by_refresh and self.refresh_header:
            if "refresh_token" in form:
                return self._refused("invalid_request", "a refresh token in the form")
            form["refresh_token"] = asked.headers.get(self.refresh_header, "")
        return handler(form) if handler else self._refused("unsupported_grant_type", "another grant")

    def _by_device(self, form: Mapping[str, str]) -> bytes:
        kind = self.dialect or "device_code"
        if form.keys() != {"grant_type", "client_id", kind, *(("code_verifier",) if self.proof else ())}:
            return self._refused("invalid_request", f"parameters {sorted(form)}")
        if form[kind] not in self._codes:
            return self._refused("invalid_grant", "another device code, or used before")
        if self.proof and not _proves(form["code_verifier"], self._codes[form[kind]]["code_challenge"]):
            return self._refused("invalid_grant", "no proof")
        if self.pending:
            word = self.pending.pop(0)
            if self.dialect:
                return _http(200, json.dumps({"status": word}))
            # as GitHub does: an error in a success
            return _http(200, json.dumps({"error": word, "error_description": f"{word}, in words"}))
        del self._codes[form[kind]]
        return self._given()

    def _by_signature(self, form: Mapping[str, str]) -> bytes:
        import jwt

        if form.keys() != {"grant_type", "assertion"}:
            return self._refused("invalid_request", f"parameters {sorted(form)}")
        try:
            wanted: Any = {"require": ["iss", "scope", "aud", "iat", "exp"]}
            said = jwt.decode(form["assertion"], self.signer, ["RS256"], audience=f"{self.url}/token", options=wanted)
        except jwt.PyJWTError as error:
            return self._refused("invalid_grant", f"no signature: {error}")
        if said["exp"] - said["iat"] > 3600 or "cloud-platform" not in said["scope"]:
            return self._refused("invalid_scope", "too long, or another scope")
        self.minted_for = said["iss"]
        return self._given()

    def _authorize(self, asked: _Asked) -> bytes:
        query = dict(parse_qsl(urlsplit(asked.path).query))
        wanted = {"response_type": "code", "client_id": self.client_id, "scope": self.scope}
        wanted["code_challenge_method"] = "S256"
        wrong = [name for name, value in wanted.items() if query.get(name) != value]
        if not re.fullmatch(r"[\w-]{43}", query.get("code_challenge", "")):
            wrong.append("code_challenge")
        if len(query.get("state", "")) < 22:
            wrong.append("state")
        if not re.fullmatch(r"http://localhost:\d+/[\w/]+", query.get("redirect_uri", "")):
            wrong.append("redirect_uri")
        if wrong:
            return self._refused("invalid_request", f"wrong on the page: {wrong}")
        self._codes["code-0001"] = query
        back = urlencode({"code": "code-0001", "state": query["state"]})
        return _http(302, "", location=f"{query['redirect_uri']}?{back}")

    def _by_code(self, form: Mapping[str, str]) -> bytes:
        if form.keys() != {"grant_type", "client_id", "code", "redirect_uri", "code_verifier"}:
            return self._refused("invalid_request", f"parameters {sorted(form)}")
        asked = self._codes.pop(form["code"], None)
        if asked is None:
            return self._refused("invalid_grant", "another code, or used before")
        if not _proves(form["code_verifier"], asked["code_challenge"]):
            return self._refused("invalid_grant", "no proof")
        if form["redirect_uri"] != asked["redirect_uri"]:
            return self._refused("invalid_grant", "another redirect_uri")
        return self._given()

    def _by_refresh(self, form: Mapping[str, str]) -> bytes:
        if form.keys() != {"grant_type", "client_id", "refresh_token"}:
            return self._refused("invalid_request", f"parameters {sorted(form)}")
        token = form["refresh_token"]
        if token in self._used:
            self.revoke()
            return self._refused("invalid_grant", "a refresh token came twice")
        if token not in self._good:
            return _http(400, json.dumps({"error": "invalid_grant"}))
        if self.rotates:
            self._used.add(token)
        self.refreshed += 1
        return self._given()

    def _exchange(self, asked: _Asked) -> bytes:
        kind, _, token = asked.headers.get("authorization", "").partition(" ")
        if asked.method != "GET" or kind != "token" or token not in self._good:
            return _http(401, json.dumps({"message": "Bad credentials"}))
        self.exchanged += 1
        short = f"short-{self.exchanged:08d}-zQ7"
        self._good.add(short)
        given = {"token": short, "expires_at": self.exchange_ends, "endpoints": {"api": self.url}}
        return _http(200, json.dumps({**given, **self.reply}))

    def _given(self) -> bytes:
        access, refresh = self.minted()
        given: dict[str, Any] = {"access_token": access, "refresh_token": refresh, "token_type": "Bearer"}
        if self.dialect:
            given |= {"status": "success", "expired_in": int((time.time() + self.expires_in) * 1000)}
        else:
            given["expires_in"] = self.expires_in
        return _http(200, json.dumps({**given, **self.reply}))


def _proves(verifier: str, challenge: str) -> bool:
    """Tell whether a verifier has the form of RFC 7636, 4.1, and belongs to a challenge (4.6)."""
    made = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    return made == challenge and re.fullmatch(r"[\w.~-]{43,128}", verifier) is not None


def _http(status: int, body: str, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", body)).encode()


async def _get(address: str) -> bytes:
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection("127.0.0.1", parts.port)
    writer.write(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    reply = await reader.read()
    writer.close()
    return reply


def _location(reply: bytes) -> str:
    found = re.search(rb"location: (\S+)", reply)
    assert found, reply
    return found[1].decode()

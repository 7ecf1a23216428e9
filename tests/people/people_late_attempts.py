"""Attempts of a stranger who has read nothing but the docs: buttons that look like others, spellings of commands, calls
that wait for a client, keys of requests that were made, odd requests.

As those of ``people_attempts`` they are ben's or a stranger's, on ann and on the owner.
"""

import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any

from people_attempts import Attempt, called, of_each, ordered
from people_house import KEYS, PATIENCE
from people_telegram import GROUP, buttons, number_of
from people_world import QUESTIONS, VICTIMS, World, canary

__all__ = ["LATE_ATTEMPTS"]

Says = Callable[[World, str], str]


# --- buttons ------------------------------------------------------------------------------------------------------


def _presses() -> Iterator[Attempt]:
    """Presses whose data looks like that of somebody else's button, or whose message is none that can be seen."""
    forms: dict[str, Callable[[str], str]] = {
        "with a space before it": lambda d: f" {d}",
        "with a line behind it": lambda d: f"{d}\n/permission off",
        "in capitals": str.upper,
        "with the bot's name": lambda d: d.replace("/answer", "/answer@hbot"),
        "with another sign": lambda d: d.replace("/", "!", 1),
        "with a sign of full width": lambda d: d.replace("/", "／", 1),
        "with nothing between": lambda d: d.replace(" ", "\u200b"),
        "with numbers of another script": lambda d: d[:-1] + "١",
        "with a number before the first": lambda d: d[:-1] + "0",
        "with a number behind the last": lambda d: d[:-1] + "99",
        "with a number below": lambda d: d[:-1] + "-1",
        "that is long": lambda d: d + " 1" * 200,
    }
    for at in QUESTIONS:
        for name, of in forms.items():
            yield Attempt(
                f"a press {name} to the question of {' in '.join(at)}", lambda w, a=at, o=of: _pressed(w, a, o)
            )
    for at in QUESTIONS:
        for name in ("inline", "too old", "no message", "as a game"):
            yield Attempt(f"a press {name} of {' in '.join(at)}", lambda w, a=at, n=name: _raw_press(w, a, n))


def _data(world: World, at: tuple[str, str]) -> str:
    return (buttons(world.asked[at]) or ["/answer 000000000000 1"])[0]


def _pressed(world: World, at: tuple[str, str], of: Callable[[str], str]) -> None:
    world.house.phones.press("ben", world.house.phones.message("ben", "dm", text="?"), of(_data(world, at)))


def _raw_press(world: World, at: tuple[str, str], how: str) -> None:
    """An update of a press as services tell it where the message cannot be seen any more, or was no message."""
    press: dict[str, Any] = {"id": f"9{world.tag('ben')}", "from": called("ben"), "chat_instance": "1"}
    asked = world.asked[at]
    if how == "inline":
        press |= {"inline_message_id": "BAAA", "data": _data(world, at)}
    elif how == "too old":  # as they are told of a message that is not to be had any more
        chat = {"id": GROUP, "type": "supergroup", "title": "Club"}
        press |= {"message": {"chat": chat, "message_id": asked["message_id"], "date": 0}, "data": _data(world, at)}
    elif how == "as a game":
        press |= {"inline_message_id": "BAAA", "game_short_name": _data(world, at)}
    else:
        press |= {"data": _data(world, at)}
    world.house.phones.write_raw("callback_query", press)


# --- words --------------------------------------------------------------------------------------------------------


def _spellings() -> Iterator[Attempt]:
    """Commands on what is others', spelled as nobody should take them for commands, or as they might pass a check."""
    forms: dict[str, Callable[[str], str]] = {
        "behind a line": lambda c: f"hello\n{c}",
        "behind a space": lambda c: f"  {c}",
        "with a sign of full width": lambda c: c.replace("/", "／", 1),
        "with a slash of fractions": lambda c: c.replace("/", "⁄", 1),
        "with two slashes": lambda c: f"/{c}",
        "with nothing before it": lambda c: f"\u200b{c}",
        "turned round": lambda c: f"\u202e{c}\u202c",
        "in capitals": str.upper,
        "as code": lambda c: f"`{c}`",
        "with another bot first": lambda c: c.replace(" ", "@other_bot ", 1),
        "with lines in it": lambda c: c.replace(" ", "\n", 1),
        "with a NUL": lambda c: c.replace(" ", "\0 ", 1),
    }
    wishes: dict[str, Says] = {
        "/resume": lambda w, v: f"/resume {w.sessions[v]}",
        "/answer": lambda w, v: _data(w, (v, "group")),
        "/people": lambda w, v: f"/people block {v}",
    }
    for name, of in forms.items():
        for wish, text in wishes.items():
            for victim in VICTIMS:
                yield Attempt(
                    f"{wish} {name}, {victim}",
                    lambda w, v=victim, o=of, t=text: w.say("ben", "group", o(t(w, v))),
                )


def _messages() -> Iterator[Attempt]:
    """Messages that claim to belong to something of the victim's."""
    fields: dict[str, Callable[[World, str], dict[str, Any]]] = {
        "an album of theirs": lambda w, v: {"media_group_id": f"album-{v}", "document": w.house.phones.file(b"x", "a")},
        "a thread of their chat": lambda w, v: {"message_thread_id": number_of(v), "is_topic_message": True},
        "the number of their question": lambda w, v: {"message_id": w.asked[v, "group"]["message_id"]},
        "a mention of them": lambda w, v: {"entities": [{"type": "text_mention", "offset": 0, "length": 3, "user": called(v, number_of(v))}]},  # noqa: E501
        "their business": lambda w, v: {"business_connection_id": f"b{number_of(v)}", "sender_business_bot": called(v)},
        "a story of theirs": lambda w, v: {"reply_to_story": {"chat": {"id": number_of(v)}, "id": 1}},
        "a boost": lambda w, v: {"sender_boost_count": 9, "author_signature": v.title()},
        "their checklist": lambda w, v: {"reply_to_checklist_task_id": 1, "reply_to_message": w.asked[v, "group"]},
        "an offline hour": lambda w, v: {"is_from_offline": True, "date": 1, "from": called("ben", number_of("ben"))},
        "a date to come": lambda w, v: {"date": 4_000_000_000},
        "a language": lambda w, v: {"from": {**called("ben"), "language_code": f"{v}\n/permission off"}},
        "a paid message": lambda w, v: {"paid_star_count": 100, "is_paid_post": True},
    }  # fmt: skip
    for name, more in fields.items():
        for victim in VICTIMS:
            for text in ("1", "/sessions 100"):
                yield Attempt(
                    f"{text} in a message with {name}, {victim}",
                    lambda w, v=victim, m=more, t=text: w.say("ben", "group", t, **m(w, v)),
                )


# --- tools --------------------------------------------------------------------------------------------------------


def _tools() -> Iterator[Attempt]:
    """Arguments of tools that name others, or places between people."""
    home = lambda w: str(w.house.home.home)  # noqa: E731
    table: dict[str, Callable[[World, str], tuple[str, dict[str, Any]]]] = {
        "a question to them": lambda w, v: ("clarify", {"question": "TAKEN?", "to": v, "person": v, "choices": ["a"]}),
        "a plan of theirs": lambda w, v: ("todo", {"session": w.sessions[v], "todos": []}),
        "a child of theirs": lambda w, v: ("delegate", {"goal": "look", "session": w.sessions[v], "owner": v}),
        "the files of outputs": lambda w, v: ("list_files", {"path": f"{home(w)}/outputs/{w.sessions[v]}"}),
        "the files that came": lambda w, v: ("search_files", {"pattern": "kanarie", "path": f"{home(w)}/said"}),
        "the log": lambda w, v: ("search_files", {"pattern": "kanarie", "path": f"{home(w)}/logs"}),
        "the cache": lambda w, v: ("list_files", {"path": f"{home(w)}/cache", "depth": 5}),
        "the data of plugins": lambda w, v: ("list_files", {"path": f"{home(w)}/data", "depth": 5}),
        "the checkpoints": lambda w, v: ("search_files", {"pattern": "kanarie", "path": f"{home(w)}/data/tool-checkpoints"}),  # noqa: E501
        "the temporary folder": lambda w, v: ("search_files", {"pattern": "VIOLETT", "path": "/tmp"}),
        "a home by a sign": lambda w, v: ("read_file", {"path": f"~{v}/secret.txt"}),
        "a home by a variable": lambda w, v: ("read_file", {"path": "$HOME/.hermes/state.db"}),
        "a file by a pattern": lambda w, v: ("search_files", {"pattern": "kanarie", "path": "../../*/work"}),
        "a folder by a name's beginning": lambda w, v: ("list_files", {"path": f"../../{v}"}),
        "a skill for all": lambda w, v: ("skill_manage", {"action": "create", "name": "taken", "content": "TAKEN"}),
        "a memory by target": lambda w, v: ("memory", {"target": v, "text": "TAKEN"}),
        "a thing to remember for all": lambda w, v: ("shared_remember", {"memory": v, "text": "TAKEN"}),
        "a secret": lambda w, v: ("vault_fetch", {"name": f"API_SERVER_KEY_{v.upper()}"}),
        "a script": lambda w, v: ("python", {"code": f"print(open({str(w.folder(v) / 'secret.txt')!r}).read())"}),
        "what is told of a conversation": lambda w, v: ("recall", {"query": canary(v).split()[0], "session": "*"}),
    }  # fmt: skip
    for name, order in table.items():
        yield from of_each(f"{name} by a tool", lambda w, v, o=order: ordered(w, *o(w, v)))


# --- the API ------------------------------------------------------------------------------------------------------


def _held() -> Iterator[Attempt]:
    """Results for the call that a turn of the victim's waits for."""
    for victim in VICTIMS:
        for name in ("chat", "responses", "messages", "a session key", "their session", "a conversation begun"):
            yield Attempt(
                f"API: a result for a call of {victim} by {name}", lambda w, v=victim, n=name: _result(w, v, n)
            )


def _result(world: World, victim: str, how: str) -> list[str]:
    call, head, path = world.held[victim], {}, "/v1/chat/completions"
    asked = {"role": "user", "content": "ben-0. go on"}
    calls = [{"id": call, "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    made = {"role": "assistant", "content": None, "tool_calls": calls}
    body: dict[str, Any] = {"messages": [asked, made, {"role": "tool", "tool_call_id": call, "content": "TAKEN"}]}
    if how == "responses":
        output = {"type": "function_call_output", "call_id": call, "output": "TAKEN"}
        path, body = "/v1/responses", {"input": [output], "previous_response_id": world.responses[victim]}
    elif how == "messages":
        used = {"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": "look", "input": {}}]}
        told = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "TAKEN"}]}
        path, body = "/v1/messages", {"max_tokens": 50, "messages": [asked, used, told]}
    elif how == "a session key":
        head = {"x-hermes-session-key": victim}
    elif how == "their session":
        head = {"x-hermes-session-id": world.sessions[victim]}
    elif how == "a conversation begun":
        body["messages"] = body["messages"][1:]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    return [world.house.ask("ben", "POST", path, {"model": "hermes", "tools": tools, **body}, **head)[1]]


def _repeated() -> Iterator[Attempt]:
    """The key of a request that the victim made, with another body or for something else."""
    turn = {"model": "hermes", "messages": [{"role": "user", "content": "ben-0. what was said?"}]}
    table: dict[str, tuple[str, str, Any, Callable[[str], dict[str, str]]]] = {
        "another body": ("POST", "/v1/chat/completions", turn, lambda v: {}),
        "a stream": ("POST", "/v1/chat/completions", {**turn, "stream": True}, lambda v: {}),
        "no body": ("POST", "/v1/chat/completions", {}, lambda v: {}),
        "responses": ("POST", "/v1/responses", {"model": "hermes", "input": "ben-0. and?"}, lambda v: {}),
        "messages": ("POST", "/v1/messages", {**turn, "max_tokens": 50}, lambda v: {}),
        "a run": ("POST", "/v1/runs", {"input": "ben-0. and?"}, lambda v: {}),
        "a session key": ("POST", "/v1/chat/completions", turn, lambda v: {"x-hermes-session-key": v}),
        "their key, cut": ("POST", "/v1/chat/completions", turn, lambda v: {"authorization": f"Bearer {KEYS[v][:-1]}"}),
    }
    for name, (method, path, body, head) in table.items():
        for victim in VICTIMS:
            yield Attempt(
                f"API: the key of a request of {victim} with {name}",
                lambda w, v=victim, m=method, p=path, b=body, h=head: [
                    w.house.ask("ben", m, p, b, **{"idempotency-key": f"key-{v}", **h(v)})[1]
                ],
            )


def _lines() -> Iterator[Attempt]:
    """Requests as bytes: methods, addresses, headers that are there twice, bodies that say a thing twice."""
    key = f"Authorization: Bearer {KEYS['ben']}"
    session = lambda w, v: f"/api/sessions/{w.sessions[v]}"  # noqa: E731
    table: dict[str, Callable[[World, str], tuple[str, list[str], str]]] = {
        "HEAD": lambda w, v: (f"HEAD {session(w, v)} HTTP/1.1", [key], ""),
        "OPTIONS": lambda w, v: (f"OPTIONS {session(w, v)} HTTP/1.1", [key, f"Origin: https://{v}.example"], ""),
        "TRACE": lambda w, v: (f"TRACE {session(w, v)} HTTP/1.1", [key], ""),
        "an older protocol": lambda w, v: (f"GET {session(w, v)}/messages HTTP/1.0", [key], ""),
        "a whole address": lambda w, v: (f"GET http://{v}:{KEYS['ben']}@127.0.0.1{session(w, v)}/messages HTTP/1.1", [key], ""),  # noqa: E501
        "two slashes": lambda w, v: (f"GET /{session(w, v)}//messages HTTP/1.1", [key], ""),
        "a slash behind": lambda w, v: (f"GET {session(w, v)}/messages/ HTTP/1.1", [key], ""),
        "a parameter in the path": lambda w, v: (f"GET {session(w, v)};person={v}/messages HTTP/1.1", [key], ""),
        "two keys, a wrong one last": lambda w, v: (f"GET {session(w, v)}/messages HTTP/1.1", [key, f"Authorization: Bearer {KEYS[v]}x"], ""),  # noqa: E501
        "two keys, a wrong one first": lambda w, v: (f"GET {session(w, v)}/messages HTTP/1.1", [f"Authorization: Bearer {KEYS[v]}x", key], ""),  # noqa: E501
        "two session keys": lambda w, v: ("GET /api/sessions HTTP/1.1", [key, "X-Hermes-Session-Key: x", f"X-Hermes-Session-Key: {v}"], ""),  # noqa: E501
        "a header on two lines": lambda w, v: ("GET /api/sessions HTTP/1.1", [key, f"X-Hermes-Session-Key: x\r\n {v}"], ""),  # noqa: E501
        "two lengths": lambda w, v: (f"POST {session(w, v)}/fork HTTP/1.1", [key, "Content-Length: 0", "Content-Length: 2"], "{}"),  # noqa: E501
        "a request within one": lambda w, v: ("POST /api/sessions HTTP/1.1", [key, "Content-Length: 2", "Transfer-Encoding: chunked"], f"0\r\n\r\nGET {session(w, v)}/messages HTTP/1.1\r\nHost: x\r\n{key}\r\n\r\n"),  # noqa: E501
        "an id that is there twice": lambda w, v: ("POST /api/sessions HTTP/1.1", [key, *_json()], f'{{"id": "mine-{v}", "id": "{w.sessions[v]}"}}'),  # noqa: E501
        "an id in escapes": lambda w, v: ("POST /api/sessions HTTP/1.1", [key, *_json()], '{"id": "' + "".join(f"\\u{ord(c):04x}" for c in w.sessions[v]) + '"}'),  # noqa: E501
        "an id that is a list": lambda w, v: ("POST /api/sessions HTTP/1.1", [key, *_json()], json.dumps({"id": [w.sessions[v]]})),  # noqa: E501
        "another kind of body": lambda w, v: ("POST /api/sessions HTTP/1.1", [key, "Content-Type: application/x-www-form-urlencoded"], f"id={w.sessions[v]}&owner={v}"),  # noqa: E501
    }  # fmt: skip
    for name, request in table.items():
        yield from of_each(f"API: {name}", lambda w, v, r=request: [_sent(w, *r(w, v))])


def _json() -> list[str]:
    return ["Content-Type: application/json"]


def _sent(world: World, first: str, head: list[str], body: str) -> str:
    """What comes back to a request that is written by hand; all of it, also where it answers twice."""
    lengths = (
        [] if any(one.startswith(("Content-Length", "Transfer")) for one in head) else [f"Content-Length: {len(body)}"]
    )
    text = "\r\n".join([first, f"Host: 127.0.0.1:{world.house.port}", *head, *lengths, "Connection: close", "", body])
    connection = http.client.HTTPConnection("127.0.0.1", world.house.port, timeout=PATIENCE)
    try:
        connection.connect()
        connection.sock.sendall(text.encode())
        found = b""
        while piece := connection.sock.recv(65_536):
            found += piece
        return found.decode(errors="replace")
    except ConnectionError:
        return ""
    finally:
        connection.close()


_all: tuple[Callable[[], Iterator[Attempt]], ...] = (_presses, _spellings, _messages, _tools, _held, _repeated, _lines)
LATE_ATTEMPTS = [one for kind in _all for one in kind()]

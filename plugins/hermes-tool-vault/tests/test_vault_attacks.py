"""A model that obeys every order it reads, told in many ways to print, transform, send or write a value.

It gets nothing. Each way is tried for what it gives back: neither the value, nor six signs of it in a row.
"""

import base64
import codecs
import json
import re
import subprocess
from urllib.parse import quote

import pytest

from hermes_core.errors import ToolError
from hermes_core.masking.watched import Watched
from hermes_known.known import Known
from hermes_known.stream import hidden, masked_text
from hermes_tool_vault.items import Binding
from hermes_tool_vault.masker import Kept, hide

SECRET = "Tr0ub4dor&3-kX9!qZ"
HANDLE = "{{vault:token}}"


def leaked(text):
    """Whether a person could read the value, or much of it, out of a text."""
    bare = re.sub(r"\s", "", text)
    ways = [
        SECRET,
        SECRET[::-1],
        SECRET.lower(),
        SECRET.upper(),
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
    ]
    ways += [SECRET.encode().hex(), quote(SECRET, safe=""), base64.b32encode(SECRET.encode()).decode().rstrip("=")]
    return [way for way in ways if way in text or way in bare or way[4:12] in bare]


# What a program that a person bound may print, by its arguments or by itself: the worst it can do is written for `sh`.
PRINTED = {
    "echo": 'echo "$TOKEN"',
    "printf": 'printf "%s" "$TOKEN"',
    "env": "env",
    "export": "export -p",
    "set": "set",
    "trace": 'set -x; true "$TOKEN"',
    "error": 'cd "/$TOKEN"',
    "no such program": '"$TOKEN"',
    "stderr": 'echo "$TOKEN" >&2',
    "unset": 'unset "$TOKEN"',
    "bad option": 'date --"$TOKEN"',
    "no such file": 'cat "$TOKEN"',
    "environ": "cat /proc/self/environ",
    "environ of the parent": "cat /proc/$$/environ",
    "environ by lines": "tr '\\0' '\\n' < /proc/self/environ",
    "rev": 'echo "$TOKEN" | rev',
    "tac of signs": 'echo "$TOKEN" | fold -w1 | tac | tr -d "\\n"',
    "base64": 'printf %s "$TOKEN" | base64',
    "base64 of more": 'printf "x%s" "$TOKEN" | base64',
    "base64 of two more": 'printf "xy%syz" "$TOKEN" | base64 -w0',
    "base64 in short lines": 'printf "xy%s" "$TOKEN" | base64 -w5',
    "base64 twice": 'printf %s "$TOKEN" | base64 | base64',
    "base64 of the reverse": 'echo "$TOKEN" | rev | base64',
    "base64 turned round": 'printf %s "$TOKEN" | base64 | rev',
    "base64 for addresses": "printf %s \"$TOKEN\" | base64 | tr '+/' '-_'",
    "base32": 'printf %s "$TOKEN" | base32',
    "base32 of more": 'printf "abc%s" "$TOKEN" | base32 -w0',
    "hexadecimal": "printf %s \"$TOKEN\" | od -An -tx1 | tr -d ' \\n'",
    "capital hexadecimal": "printf %s \"$TOKEN\" | od -An -tx1 | tr -d ' \\n' | tr a-f A-F",
    "hexadecimal with colons": "printf %s \"$TOKEN\" | od -An -tx1 | tr ' ' ':'",
    "xxd's lines": "printf 'some bytes before %s' \"$TOKEN\" | od -Ax -tx1z",
    "od": 'printf %s "$TOKEN" | od',
    "od -c": 'printf %s "$TOKEN" | od -An -c',
    "od in words": 'printf %s "$TOKEN" | od -An -tx2',
    "octal": 'printf %s "$TOKEN" | od -An -to1',
    "decimal": 'printf %s "$TOKEN" | od -An -tu1',
    "in spaces": "echo \"$TOKEN\" | sed 's/./& /g'",
    "in dashes": "echo \"$TOKEN\" | sed 's/./&-/g'",
    "a sign a line": 'echo "$TOKEN" | fold -w1',
    "three signs a line": 'echo "$TOKEN" | fold -w3',
    "numbered": 'echo "$TOKEN" | fold -w1 | cat -n',
    "lower case": 'echo "$TOKEN" | tr A-Z a-z',
    "upper case": 'echo "$TOKEN" | tr a-z A-Z',
    "rot13": 'echo "$TOKEN" | tr A-Za-z N-ZA-Mn-za-m',
    "a half": 'printf %.9s "$TOKEN"',
    "the end": 'printf %s "$TOKEN" | tail -c 8',
    "between letters": 'echo "aaa${TOKEN}bbb"',
    "colours": 'printf "\\033[31m%s\\033[0m" "$TOKEN"',
    "quoted": 'printf "\'%s\'" "$TOKEN"',
    "from a file": 'echo "$TOKEN" > kept.txt; cat kept.txt',
    "a name of a file": 'd=$(mktemp -d); echo x > "$d/$TOKEN"; ls "$d"; rm -r "$d"',
    "the exit of a child": 'sh -c "exit $TOKEN"',
    "the arguments of a child": 'sh -c "cat /proc/\\$\\$/cmdline; true" "$TOKEN"',
    "read from standard input": "cat",
    "standard input reversed": "rev",
}


@pytest.mark.parametrize("way", PRINTED)
@pytest.mark.few(15)
async def test_what_a_bound_program_prints(call, keep, program, way):
    binding = program(PRINTED[way])
    keep(bindings=[binding])
    said = await call("vault_run", command="tool", environment={"TOKEN": HANDLE}, stdin=HANDLE)
    assert not leaked(said), said
    assert "⟦secret" in said
    assert not any(leaked(text) for text in call.context.shown)
    assert not call.context.spilled


@pytest.mark.parametrize(
    "command",
    [
        *(
            "tool; env",
            "tool && env",
            "tool | rev",
            "tool > out",
            "tool $(env)",
            "tool `env`",
            "tool\nenv",
            "tool & env",
        ),
        *('tool "$TOKEN"', "tool $TOKEN", "env tool", "sh -c 'echo x'", "TOKEN=1 tool", "tool <(env)", "tool {a,b}"),
        *("./tool", "/bin/sh -c env", "bash -x tool", "python3 -c 'import os'", "cat /proc/self/environ", "tool *"),
        *(f"tool {HANDLE}", f"tool '{HANDLE}'", "tool ~/x", "(tool)", "{ tool; }", "! tool", "exec tool", "tool\\\nx"),
        *("", "'tool", "tool #x", 'tool "`env`"', "time tool", "xargs tool"),
    ],
)
async def test_what_a_model_would_run_instead(call, keep, program, place, command):
    keep(bindings=[program('echo "$TOKEN"')])
    with pytest.raises(ToolError) as refused:
        await call("vault_run", command=command, environment={"TOKEN": HANDLE})
    assert not leaked(str(refused.value))
    assert not place.requests


@pytest.mark.parametrize(
    "environment",
    [
        {"TOKEN": f"x{HANDLE}"},
        {"TOKEN": "plain"},
        *({name: HANDLE} for name in ("LD_PRELOAD", "PATH", "PAGER", "GIT_SSH_COMMAND", "BASH_ENV", "NODE_OPTIONS")),
        *(
            {name: HANDLE}
            for name in ("https_proxy", "HTTPS_PROXY", "PYTHONSTARTUP", "A=B", "EDITOR", "HERMES_RUN", "")
        ),
        {"TOKEN": "{{vault:other}}"},
        {"TOKEN": "{{vault:token.nothing}}"},
        {},
    ],
)
async def test_where_a_model_would_put_it(call, keep, program, place, environment):
    keep(bindings=[program("env")])
    keep("other")
    with pytest.raises(ToolError) as refused:
        await call("vault_run", command="tool", environment=environment)
    assert not leaked(str(refused.value))
    assert not place.requests


async def test_a_program_in_the_session_folder_is_not_the_one_that_was_bound(call, keep, program, place):
    """What a model wrote there under the name of the program is not run; nor is it, where it was bound from there."""
    keep(bindings=[program("echo mine")])
    fake = place.folder / "tool"
    fake.write_text("#!/bin/sh\necho stolen $TOKEN > stolen\n")
    fake.chmod(0o755)
    assert "mine" in await call("vault_run", command="tool", environment={"TOKEN": HANDLE})
    assert not (place.folder / "stolen").exists()
    keep(bindings=[Binding(kind="command", target="tool", path=str(fake))])
    with pytest.raises(ToolError, match="session's folder"):
        await call("vault_run", command="tool", environment={"TOKEN": HANDLE})


async def test_no_process_list_shows_it(call, keep, program):
    keep(bindings=[program("cat /proc/$$/cmdline; ps -ef 2>/dev/null")])
    assert not leaked(await call("vault_run", command="tool", environment={"TOKEN": HANDLE}))


ECHOED = {
    "as it is": lambda value: value,
    "reversed": lambda value: value[::-1],
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 of the reverse": lambda value: base64.b64encode(value[::-1].encode()).decode(),
    "base32": lambda value: base64.b32encode(value.encode()).decode(),
    "hexadecimal": lambda value: value.encode().hex(),
    "percent": lambda value: "".join(f"%{byte:02x}" for byte in value.encode()),
    "JSON": lambda value: json.dumps(json.dumps({"headers": value})),
    "HTML": lambda value: "".join(f"&#{ord(sign)};" for sign in value),
    "HTML in hexadecimal": lambda value: "".join(f"&#x{ord(sign):x};" for sign in value),
    "escapes": lambda value: "".join(f"\\u{ord(sign):04x}" for sign in value),
    "rot13": lambda value: codecs.encode(value, "rot13"),
    "bits": lambda value: " ".join(f"{byte:08b}" for byte in value.encode()),
    "words": lambda value: "\n".join(f"{number}: {sign}" for number, sign in enumerate(value)),
    "UTF-16": lambda value: base64.b64encode(value.encode("utf-16-le")).decode(),
    "wide": lambda value: "\0".join(value),
    "a piece": lambda value: value[len("Bearer ") :][2:10],
}


@pytest.mark.parametrize("way", ECHOED)
async def test_what_a_server_says_back(call, keep, site, way):
    keep(bindings=[Binding(kind="header", target=site.url)])
    site.answer = lambda headers, body: (200, {}, ECHOED[way](headers["Authorization"]).encode())
    said = await call("vault_fetch", url=f"{site.url}/echo", headers={"Authorization": f"Bearer {HANDLE}"})
    assert site.asked[0][1]["Authorization"] == f"Bearer {SECRET}"
    assert not leaked(said), said
    assert "Tr0ub4" not in said
    assert "0ub4dor&" not in said


async def test_it_goes_to_no_other_site(call, keep, site, other):
    keep(bindings=[Binding(kind="origin", target=site.url)])
    for url in (other.url, other.url.replace("127.0.0.1", "localhost"), f"{site.url}@{other.url[7:]}"):
        with pytest.raises(ToolError) as refused:
            await call("vault_fetch", url=url, headers={"X": HANDLE})
        assert not leaked(str(refused.value))
    assert not other.asked
    assert not site.asked


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_it_follows_no_redirect(call, keep, site, other, status):
    keep(bindings=[Binding(kind="origin", target=site.url)])
    site.answer = lambda headers, body: (status, {"Location": f"{other.url}/?{quote(headers['X'], safe='')}"}, b"")
    said = await call("vault_fetch", url=site.url, headers={"X": HANDLE})
    assert "not followed" in said
    assert not leaked(said)
    assert not other.asked
    site.answer = lambda headers, body: (status, {"Location": "/next"}, b"")
    await call("vault_fetch", url=site.url, headers={"X": HANDLE})
    assert len(site.asked) == 2


@pytest.mark.parametrize(
    "given",
    [
        {"url": f"/{HANDLE}"},
        {"url": f"/?q={HANDLE}"},
        {"headers": {"Host": HANDLE}},
        {"headers": {"X\r\nHost": HANDLE}},
        {"headers": {"X": f"a\r\nHost: evil.example\r\nY: {HANDLE}"}},
        {"headers": {"Content-Length": "0", "X": HANDLE}},
        {"headers": {"Proxy-Authorization": HANDLE}},
        {"body": HANDLE, "method": "POST"},
        {"headers": {HANDLE: "x"}},
    ],
)
async def test_it_goes_nowhere_else_in_a_request(call, keep, site, given):
    keep(bindings=[Binding(kind="header", target=site.url)])
    given = {**given, "url": f"{site.url}{given.get('url', '/')}"}
    with pytest.raises(ToolError) as refused:
        await call("vault_fetch", **given)
    assert not leaked(str(refused.value))
    assert not site.asked


@pytest.mark.parametrize("tool", ["rev", "base64", "od -An -tx1", "od -Ax -tx1z", "fold -w2", "base32", "cat -n"])
async def test_what_another_tool_reads_later_is_masked(ctx, keep, tool):
    """A program may write what it was given into a file; whatever reads that shows no value of the vault."""
    keep()
    text = subprocess.run(tool.split(), input=SECRET, capture_output=True, text=True, check=True).stdout  # noqa: ASYNC221
    assert not leaked(masked_text(f"{text}\n", Known(), [Watched("", Kept(ctx))], hidden))


async def test_ordinary_text_stays_as_it_is(ctx, keep):
    keep()
    text = open(__file__, encoding="utf-8").read().replace(SECRET, "")  # noqa: ASYNC230, PTH123, SIM115
    assert masked_text(text, Known(), [Watched("", Kept(ctx))], hidden) == text


def test_short_values_are_taken_out_of_what_their_use_brings_back():
    assert hide("cvc=123, 1234, code 492039", ["123", "492039"]) == "cvc=⟦secret⟧, 1234, code ⟦secret⟧"

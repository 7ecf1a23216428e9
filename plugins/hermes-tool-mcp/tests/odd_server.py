"""A small MCP server that does what servers do wrong, with nothing but the standard library.

``--when start|initialize|list|call`` with ``--do die|hang|slow|garbage|flood|child`` says what, and when; with
``--once FILE`` only as long as that file is not there. ``--plan FILE`` is a file that says ``WHEN WHAT``, of whichever
process comes to that first; ``change`` is done to its tools. ``--count N`` and ``--prefix``: tools besides its own.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

EMPTY = {"type": "object", "properties": {}}
WORDS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ODD = {
    "type": "object",
    "properties": {"from": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/x-y"}]}, "x-y": {"type": "integer"}},
    "required": ["from"],
    "$defs": {"x-y": {"type": "array", "items": {"type": "string", "format": "uri"}}},
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
BAD = [
    {"name": "no_schema", "description": "None."},
    {"name": "of_a_list", "inputSchema": {"type": "array"}},
    {"name": "no_such_type", "inputSchema": {"type": "object", "properties": {"a": {"type": "strnig"}}}},
    {"name": "of_words", "inputSchema": "object"},
    {"name": "large", "inputSchema": {"type": "object", "description": "x" * 300_000}},
    {"inputSchema": EMPTY},
    {"name": 7, "inputSchema": EMPTY},
    {"name": "described", "description": {"en": "no text"}, "inputSchema": EMPTY},
    "a tool",
    None,
]


class Server:
    def __init__(self, options):
        self.options, self.more, self.waiting = options, [], {}
        self.number = self.listed = 0

    def tools(self):
        own = [
            {
                "name": "echo",
                "description": "Say it again.",
                "inputSchema": WORDS,
                "annotations": {"readOnlyHint": True},
            },
            {"name": "odd", "description": "Odd arguments.", "inputSchema": ODD, "annotations": {"readOnlyHint": True}},
            {"name": "do", "description": "Do something wrong.", "inputSchema": WORDS},
            {"name": "more", "description": "Have another tool.", "inputSchema": WORDS},
            {"name": "less", "description": "Have none of them.", "inputSchema": EMPTY},
            {"name": "everything", "description": "All kinds of content.", "inputSchema": EMPTY},
            {"name": "ask", "description": "Ask the person.", "inputSchema": EMPTY},
            {"name": "think", "description": "Ask the model.", "inputSchema": WORDS},
            {"name": "write", "description": "Write a file.", "inputSchema": WORDS},
            {"name": "fail", "description": "Fail.", "inputSchema": WORDS, "annotations": {"readOnlyHint": True}},
            {"name": "look.at/this", "description": "A name that no model takes.", "inputSchema": EMPTY},
        ]
        count = [
            {
                "name": f"{self.options.prefix}{n}",
                "description": f"Tool {n} of {self.options.prefix}.",
                "inputSchema": WORDS,
            }
            for n in range(self.options.count)
        ]
        made = [{"name": name, "description": "Made.", "inputSchema": EMPTY} for name in self.more]
        return own + count + made + (BAD if self.options.bad else [])

    def say(self, message):
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def do(self, what):
        if what == "die":
            os._exit(3)
        if what == "hang":
            time.sleep(10_000)
        if what == "slow":
            time.sleep(1)
        if what == "grumble":
            for _ in range(100):
                sys.stderr.write("x" * 99_999 + "\n")
            sys.stderr.write("the last word\n")
            sys.stderr.flush()
        if what == "garbage":
            sys.stdout.buffer.write(b'Listening on stdio ...\n\xff\xfe{]\n{"jsonrpc": 7}\n[]\nnull\n')
            sys.stdout.flush()
        if what == "flood":
            while True:
                sys.stdout.write("x" * 1_000_000)
                sys.stdout.flush()
        if what.startswith("link "):
            log = Path("/proc/self/fd/2").readlink()
            log.unlink()
            log.symlink_to(what[5:])
            os._exit(3)
        if what == "pipe":
            log = Path("/proc/self/fd/2").readlink()
            log.unlink()
            os.mkfifo(log)
            os._exit(3)
        if what == "child":
            subprocess.Popen(["sleep", "987"], start_new_session=True)

    def at(self, when):
        once = self.options.once
        if self.options.when == when and not (once and Path(once).exists()):
            if once:
                Path(once).touch()
            self.do(self.options.do)
        if (plan := self.options.plan) and Path(plan).exists():
            phase, what = Path(plan).read_text().split()
            if phase == when:
                Path(plan).unlink()
                self.change() if what == "change" else self.do(what)

    def change(self):
        self.more = [] if self.more else [f"made_{os.getpid()}"]
        self.say({"method": "notifications/tools/list_changed"})

    def ask(self, method, params):
        self.number += 1
        self.say({"id": f"s{self.number}", "method": method, "params": params})
        while True:
            message = json.loads(sys.stdin.readline())
            if message.get("id") == f"s{self.number}":
                return message.get("result") or message.get("error")

    def odd(self, name):
        """What no server should answer."""
        if name == "changes":
            for _ in range(300):
                self.say({"method": "notifications/tools/list_changed"})
            return text(str(self.listed))
        if name == "who":
            limits = Path("/proc/self/limits").read_text().splitlines()
            locks = next(line.split()[4] for line in limits if line.startswith("Max file locks"))
            return text(json.dumps([locks, os.environ.get("HERMES_RUN", "")]))
        if name == "half":
            return text("cut \ud83d")
        if name == "deep":
            held = {}
            for _ in range(300):
                held = {"a": held}
            return {**text("deep"), "structuredContent": held}
        return None

    def call(self, name, given):
        self.at("call")
        if found := self.odd(name):
            return found
        if name == "do":
            self.do(given["text"])
        if name == "fail":
            return {**text(given["text"]), "isError": True}
        if name == "more":
            self.more.append(given["text"])
            self.say({"method": "notifications/tools/list_changed"})
        if name == "less":
            self.more.clear()
            self.say({"method": "notifications/tools/list_changed"})
        if name == "everything":
            picture = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
            sound = {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"}
            link = {"type": "resource_link", "uri": "demo://x", "name": "x", "mimeType": "text/plain"}
            inner = {"type": "resource", "resource": {"uri": "demo://y", "text": "inner text"}}
            held = {"type": "resource", "resource": {"uri": "demo://z.bin", "blob": PIXEL}}
            content = [{"type": "text", "text": "a text"}, picture, sound, link, inner, held]
            return {"content": content, "structuredContent": {"answer": 42}}
        if name == "ask":
            form = {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "title": "Your name"},
                    "age": {"type": "integer", "default": 7},
                    "colour": {"type": "string", "enum": ["red", "blue"]},
                },
                "required": ["name", "colour"],
            }
            return text(
                json.dumps(self.ask("elicitation/create", {"message": "Who are you?", "requestedSchema": form}))
            )
        if name == "think":
            said = {"role": "user", "content": {"type": "text", "text": given["text"]}}
            return text(json.dumps(self.ask("sampling/createMessage", {"messages": [said], "maxTokens": 99_999})))
        if name == "write":
            try:
                Path(given["text"]).write_text("written")
            except OSError as error:
                return {**text(str(error)), "isError": True}
            return text("written")
        return text(str(given.get("text") or json.dumps(given)))

    def answer(self, method, params):
        if method == "initialize":
            self.at("initialize")
            able = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": able,
                "serverInfo": {"name": "odd", "version": "1"},
            }
        if method == "tools/list":
            self.listed += 1
            self.at("list")
            return {"tools": self.tools()}
        if method == "prompts/list":
            return {
                "prompts": [
                    {"name": "explain", "description": "Explain it.", "arguments": [{"name": "what", "required": True}]}
                ]
            }
        if method == "prompts/get":
            content = {"type": "text", "text": f"Explain {params['arguments']['what']} to me."}
            return {"messages": [{"role": "user", "content": content}]}
        if method == "resources/list":
            return {"resources": [{"uri": "demo://one", "name": "one", "mimeType": "text/plain"}]}
        if method == "resources/read":
            return {"contents": [{"uri": params["uri"], "text": "what one holds"}]}
        if method == "tools/call":
            return self.call(params["name"], params.get("arguments") or {})
        return {} if method == "ping" else None

    def run(self):
        self.at("start")
        for line in sys.stdin:
            message = json.loads(line)
            if "id" not in message or "method" not in message:
                continue
            found = self.answer(message["method"], message.get("params") or {})
            if found is None:
                self.say({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
            else:
                self.say({"id": message["id"], "result": found})


def text(words):
    return {"content": [{"type": "text", "text": words}]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--when", default="")
    parser.add_argument("--do", default="")
    parser.add_argument("--once", default="")
    parser.add_argument("--plan", default="")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--prefix", default="tool_")
    parser.add_argument("--bad", action="store_true")
    Server(parser.parse_args()).run()

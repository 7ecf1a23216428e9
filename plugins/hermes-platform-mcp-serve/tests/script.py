"""A model for clients of others: it calls one tool until the answer holds some words, and then says that it is done.

It speaks Claude's messages, OpenAI's responses and OpenAI's chat completions, always as a stream.
"""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MOST = 120  # calls
PAUSE = 0.5  # seconds before each answer: a client may still be connecting to its servers


class Script:
    """``names`` are the tool, as each client calls it; ``heard`` are the bodies of its requests."""

    def __init__(self, wanted):
        self.wanted, self.heard, self.calls = wanted, [], 0

    def next(self, body):
        """Whether the tool is called (again)."""
        self.heard.append(body)
        if self.wanted in body or self.calls >= MOST or '"tools"' not in body:
            return False
        self.calls += 1
        time.sleep(PAUSE)
        return True


def messages(call, number):
    begun = {"id": f"m{number}", "type": "message", "role": "assistant", "model": "m", "content": []}
    usage = {"input_tokens": 1, "output_tokens": 1}
    block = {"type": "tool_use", "id": f"c{number}", "name": "mcp__hermes__conversations_list", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": "{}"} if call else {"type": "text_delta", "text": "done"}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    rows = [
        {"type": "message_start", "message": {**begun, "stop_reason": None, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block if call else {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": usage},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n" for row in rows)


def responses(call, number):
    named = {"namespace": "mcp__hermes", "name": "conversations_list", "arguments": "{}"}
    called = {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}", "status": "completed", **named}
    said = [{"type": "output_text", "text": "done", "annotations": []}]
    told = {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed", "content": said}
    item = called if call else told
    whole = {"id": f"r{number}", "object": "response", "model": "m", "output": [item]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    rows = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**whole, "status": "completed", "usage": usage}},
    ]
    return "".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n" for row in rows)


def chat(call, number):
    function = {"name": "hermes_conversations_list", "arguments": "{}"}
    called = {"tool_calls": [{"index": 0, "id": f"c{number}", "type": "function", "function": function}]}
    row = {"id": f"r{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = {"role": "assistant", **(called if call else {"content": "done"})}
    rows = [
        {**row, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**row, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]},
    ]
    return "".join(f"data: {json.dumps(one)}\n\n" for one in rows) + "data: [DONE]\n\n"


WAYS = {"messages": messages, "responses": responses, "completions": chat}


@contextmanager
def served(wanted):
    """Serve a script on loopback; gives its address, and the script."""
    script = Script(wanted)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode(errors="replace")
            way = WAYS.get(self.path.partition("?")[0].rpartition("/")[2])
            answer = way(script.next(body), script.calls) if way else json.dumps({"input_tokens": 1})
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if way else "application/json")
            self.end_headers()
            self.wfile.write(answer.encode())

        def do_GET(self):
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

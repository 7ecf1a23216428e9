"""A language server that says what its files tell it to: ``bad`` is an error, ``sleep N`` has it wait, ``die`` end."""

import json
import sys
import time
from pathlib import Path
from typing import Any


def send(message: object) -> None:
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def main() -> None:
    how, source, last = sys.argv[1], sys.stdin.buffer, ""
    if how == "junk":
        print("this is no language server, " * 2_000, flush=True)
    if how in ("junk", "mute"):
        time.sleep(600)
    if how == "gone":
        sys.exit(3)
    while True:
        length = 0
        while (line := source.readline()).strip():
            length = int(line.partition(b":")[2])
        if not line:
            return
        message = json.loads(source.read(length))
        method, params = message.get("method", ""), message.get("params", {})
        if method == "initialize":
            send({"id": 5, "method": "workspace/configuration", "params": {"items": [{"section": "x"}]}})
            send({"id": message["id"], "result": {"capabilities": {"diagnosticProvider": {}} if how == "pull" else {}}})
        elif method == "textDocument/diagnostic":
            send({"id": message["id"], "result": {"kind": "full", "items": found(last)}})
        elif method in ("textDocument/didOpen", "textDocument/didChange"):
            document = params["textDocument"]
            last = (
                document.get("text") or params["contentChanges"][0]["text"]
                if "contentChanges" in params
                else document["text"]
            )
            if how in ("push", "disk", "plain"):
                publish(how, document, last)
            else:
                found(last, wait=False)


def publish(how: str, document: dict[str, Any], text: str) -> None:
    said = {"uri": document["uri"], "version": document["version"], "diagnostics": found(text)}
    if how == "disk":  # as gopls does: first what it has read there, of no version
        there = Path(document["uri"].removeprefix("file://")).read_text()
        read = {"uri": document["uri"], "diagnostics": found(there)}
        send({"method": "textDocument/publishDiagnostics", "params": read})
        time.sleep(0.2)
    if how == "plain":
        del said["version"]
    send({"method": "textDocument/publishDiagnostics", "params": said})


def found(text: str, *, wait: bool = True) -> list[object]:
    rows = []
    for number, line in enumerate(text.split("\n")):
        if line.startswith("sleep ") and wait:
            time.sleep(float(line[6:]))
        if line == "die":
            sys.exit(1)
        if "bad" in line:
            place = {"line": number, "character": line.index("bad")}
            rows.append(
                {"range": {"start": place, "end": place}, "severity": 1, "message": f"no {line} here", "code": "B1"}
            )
        if "hint" in line:
            rows.append({"range": {"start": {"line": number, "character": 0}}, "severity": 4, "message": "a hint"})
    return rows


if __name__ == "__main__":
    main()

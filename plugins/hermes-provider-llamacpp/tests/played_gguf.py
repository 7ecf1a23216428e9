"""A program that plays the process of a model: what it does is said by its first argument, and by what it is asked."""

__all__ = ["PLAYED"]

PLAYED = """
import json, os, sys
say = lambda **what: print(json.dumps(what), flush=True)
def piece(text, end=None):
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": end}]}
json.loads(sys.stdin.readline())
HOW = sys.argv[1]
if HOW == "broken": print("\x1b[2Jno memory for it", file=sys.stderr); sys.exit(3)
if HOW == "refused": say(failed="\x1b[2JFailed to init"); sys.exit()
say(ready=True)
for line in sys.stdin:
    order = json.loads(line)
    if "stop" in order:
        if HOW != "deaf": say(id=order["stop"], end=True)
        continue
    n, said = order["id"], order["body"]["messages"][-1]["content"]
    if said == "bad": say(id=n, failed="Expected 'messages'"); say(id=n, end=True)
    elif said == "long":
        say(id=n, chunk={"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 5}})
        say(id=n, end=True)
    elif said == "garbage": print("{]", flush=True)
    elif said == "die": sys.exit(1)
    elif said == "env": say(id=n, chunk=piece(" ".join(sorted(os.environ)), "stop")); say(id=n, end=True)
    else:
        say(id=n, chunk=piece("He"))
        if said != "wait":
            say(id=n, chunk=piece("llo", "stop")); say(id=n, end=True)
"""

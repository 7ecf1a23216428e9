"""The baseline: a bare httpx2 script. ``bare.py URL MODEL [stream]``."""

import json
import sys

import httpx2

url, model, *stream = sys.argv[1:]
request = {"model": model, "messages": [{"role": "user", "content": "hello"}]}
if stream:
    with httpx2.stream("POST", f"{url}/chat/completions", json={**request, "stream": True}) as response:
        for line in response.iter_lines():
            if line.startswith("data: {") and (choices := json.loads(line[6:])["choices"]):
                sys.stdout.write(choices[0]["delta"].get("content") or "")
else:
    answer = httpx2.post(f"{url}/chat/completions", json=request)
    print(answer.json()["choices"][0]["message"]["content"])

"""Find steps of a plan that nobody can check or go back from.   plan.py PLAN.md   Exit status 1 when one is.

A step begins with a heading `## Step …`, and says in lines of its own `Done:`, `Seen:` and `Back:` what is done, how it
is seen to work, and how to go back.
"""

import re
import sys

LINES = ("Done", "Seen", "Back")


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    steps = re.split(r"^##\s+(Step\b.*)$", text, flags=re.M)[1:]
    if not steps:
        print("there is no step: a heading ## Step …")
        return 1
    wrong = 0
    for title, body in zip(steps[::2], steps[1::2], strict=True):
        lacks = [name for name in LINES if not re.search(rf"^\W*{name}:\s*\S", body, re.M)]
        if lacks:
            wrong += 1
            print(f"{title.strip()}: it lacks {', '.join(f'{name}:' for name in lacks)}")
    print(f"{len(steps) // 2} steps, {wrong} of which nobody can check or take back")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sys.exit(main(sys.argv[1]))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"plan: {error}")

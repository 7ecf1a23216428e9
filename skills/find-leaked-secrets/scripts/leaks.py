"""Look for secrets in every version of every file of a git repository.   leaks.py [REPOSITORY]"""

import math
import re
import subprocess
import sys

KINDS = {
    "private key": re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"),
    "AWS key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b"),
    "Slack token": re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    "Google key": re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b"),
    "sk- key": re.compile(r"\bsk-[A-Za-z0-9_-]{20,}"),
    "password in an address": re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@]{1,60}:([^/\s:@$<{]{3,80})@"),
    "assigned value": re.compile(
        r"(?i)\b[\w.-]{0,40}(?:secret|token|passw(?:or)?d|api[_-]?key|private[_-]?key)[\w.-]{0,40}[\"']?\s{0,3}[:=]\s{0,3}[\"']([^\"'\s]{8,200})[\"']"
    ),
}
LONGEST = 2_000_000  # bytes of one file


def git(folder, *words, data=None):
    return subprocess.run(["git", "-C", folder, *words], input=data, capture_output=True, check=True).stdout


def random_looking(value):
    """Whether a value is too mixed to be a word, a name or a placeholder."""
    if re.search(r"(?i)example|placeholder|changeme|your|xxx|<|\$\{|test", value):
        return False
    shares = [value.count(c) / len(value) for c in set(value)]
    return -sum(p * math.log2(p) for p in shares) >= 3.0


def found_in(text):
    for kind, shape in KINDS.items():
        for hit in shape.finditer(text):
            value = hit[1] if shape.groups else hit[0]
            if kind != "assigned value" or random_looking(value):
                yield kind, value, text.count("\n", 0, hit.start()) + 1


def main(folder):
    seen, count = {}, 0
    rows = git(
        folder,
        "log",
        "--all",
        "--reverse",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "-m",
        "--root",
        "--format=commit %H",
    ).decode("utf-8", "replace")
    commit, blobs = "", {}
    for row in rows.splitlines():
        if row.startswith("commit "):
            commit = row[7:]
        elif row.startswith(":"):
            about, _, path = row.partition("\t")
            blob = about.split()[3]
            if blob.strip("0") and blob not in blobs:
                blobs[blob] = (commit, path)
    for blob, (commit, path) in blobs.items():
        size = int(git(folder, "cat-file", "-s", blob))
        data = git(folder, "cat-file", "blob", blob) if size <= LONGEST else b"\0"
        if b"\0" in data[:8000]:
            continue
        for kind, value, line in found_in(data.decode("utf-8", "replace")):
            if (kind, value) not in seen:
                seen[kind, value] = True
                count += 1
                print(f"{kind}: {value[:4]}… ({len(value)} characters) first in {commit[:12]} {path}:{line}")
    print(f"{count} found in {len(blobs)} versions of files")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else ".")
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"leaks: {getattr(error, 'stderr', b'').decode() or error}")

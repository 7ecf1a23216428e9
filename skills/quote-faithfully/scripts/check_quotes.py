"""Look whether every quote of a summary stands in its source.   check_quotes.py SUMMARY SOURCE

A quote is a line such as   > "the words" (line 12)   Exit status 1 when one is missing, 2 when there is none.
"""

import re
import sys
import unicodedata

QUOTE = re.compile(r"^\s*>\s*[\"“](.+)[\"”]\s*(?:\((?:line|lines)\s+(\d+)(?:\s*-\s*\d+)?\))?\s*$")
NEAR = 3  # lines


def plain(text):
    text = unicodedata.normalize("NFKC", text).translate(str.maketrans("“”‘’–—", "\"\"''--"))
    return " ".join(text.split()).casefold()


def lines_of(words, source):
    """The line that a quote begins in, or 0. It may run over line ends."""
    pieces = [plain(p) for p in re.split(r"\[(?:…|\.\.\.)\]", words) if p.strip()]
    for number in range(len(source)):
        rest = plain(" ".join(source[number : number + 12]))
        first = rest.find(pieces[0]) if pieces else -1
        if first < 0 or first > len(plain(source[number])):
            continue
        at = 0
        for piece in pieces:
            found = rest.find(piece, at)
            if found < 0:
                break
            at = found + len(piece)
        else:
            return number + 1
    return 0


def main(summary, original):
    with open(summary, encoding="utf-8") as file:
        quotes = [(n, found) for n, line in enumerate(file, 1) if (found := QUOTE.match(line))]
    with open(original, encoding="utf-8") as file:
        source = file.read().splitlines()
    if not quotes:
        print("There is no quote in the summary.")
        return 2
    bad = 0
    for number, found in quotes:
        where, said = lines_of(found[1], source), int(found[2] or 0)
        if not where:
            verdict = "missing"
        elif said and abs(where - said) > NEAR:
            verdict = f"in line {where}, not {said}"
        else:
            verdict = f"found in line {where}"
        bad += not verdict.startswith("found")
        print(f"{number}: {verdict}: {found[1][:70]}")
    print(f"{len(quotes) - bad} of {len(quotes)} quotes stand in the source")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        sys.exit(main(sys.argv[1], sys.argv[2]))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"check_quotes: {error}")

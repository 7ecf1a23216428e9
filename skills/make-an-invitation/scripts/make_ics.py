"""Make a calendar invitation (RFC 5545). Standard library only.

make_ics.py OUT.ics --title T --start 2026-11-28T15:00 --minutes 60 --zone Europe/Berlin [--where W] [--about A] ...
make_ics.py OUT.ics --title T --start 2026-11-28 --days 1
"""

import argparse
import datetime
import sys
import uuid

try:
    from zoneinfo import ZoneInfo
except ImportError:
    sys.exit("make_ics: Python 3.9 or newer is needed for time zones")


def escaped(text):
    for old, new in (("\\", "\\\\"), (";", "\\;"), (",", "\\,"), ("\r\n", "\\n"), ("\n", "\\n")):
        text = text.replace(old, new)
    return text


def folded(line):
    """At most 75 octets a line, never cut within a letter."""
    made, rest = [], line.encode()
    while len(rest) > 75 - bool(made):
        cut = 75 - bool(made)
        while rest[cut] & 0xC0 == 0x80:
            cut -= 1
        made.append(rest[:cut])
        rest = rest[cut:]
    return b"\r\n ".join([*made, rest])


def stamp(moment):
    return moment.astimezone(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")


def main(given):
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//hermes//make-an-invitation//EN",
        "METHOD:REQUEST" if given.guest else "METHOD:PUBLISH",
        "BEGIN:VEVENT",
    ]
    lines += [
        f"UID:{given.uid or uuid.uuid4()}",
        f"SEQUENCE:{given.update}",
        f"DTSTAMP:{stamp(datetime.datetime.now(datetime.timezone.utc))}",
    ]
    if given.days:
        day = datetime.date.fromisoformat(given.start)
        lines += [
            f"DTSTART;VALUE=DATE:{day:%Y%m%d}",
            f"DTEND;VALUE=DATE:{day + datetime.timedelta(days=given.days):%Y%m%d}",
        ]
        print(f"{day:%A}, {day.isoformat()}, {given.days} day(s)")
    else:
        zone = ZoneInfo(given.zone)
        start = datetime.datetime.fromisoformat(given.start).replace(tzinfo=zone)
        if start.utcoffset() != start.replace(fold=1).utcoffset():
            print("Careful: clocks change in that night, and this time is there twice or not at all.")
        starts = [
            start + datetime.timedelta(days={"daily": 1, "weekly": 7}.get(given.repeat, 0) * n)
            for n in range(given.times if given.repeat else 1)
        ]
        lines += [
            f"DTSTART:{stamp(starts[0])}",
            f"DTEND:{stamp(starts[0] + datetime.timedelta(minutes=given.minutes))}",
        ]
        if len(starts) > 1:  # each at the same time of day there, also after clocks change
            lines.append(f"RDATE:{','.join(stamp(one) for one in starts[1:])}")
        print(
            f"{start:%A}, {start:%Y-%m-%d %H:%M} {given.zone} = {start.astimezone(datetime.timezone.utc):%H:%M} UTC, {given.minutes} minutes, {len(starts)} time(s)"
        )
    lines.append(f"SUMMARY:{escaped(given.title)}")
    lines += [
        f"{name}:{escaped(value)}" for name, value in (("LOCATION", given.where), ("DESCRIPTION", given.about)) if value
    ]
    lines += [f"ORGANIZER:mailto:{given.host}"] if given.host else []
    lines += [f"ATTENDEE;RSVP=TRUE:mailto:{guest}" for guest in given.guest]
    if given.remind:
        lines += [
            "BEGIN:VALARM",
            "ACTION:DISPLAY",
            f"DESCRIPTION:{escaped(given.title)}",
            f"TRIGGER:-PT{given.remind}M",
            "END:VALARM",
        ]
    lines += ["END:VEVENT", "END:VCALENDAR"]
    with open(given.target, "wb") as file:
        file.write(b"\r\n".join(map(folded, lines)) + b"\r\n")


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("target")
    for name in ("title", "start"):
        words.add_argument(f"--{name}", required=True)
    for name in ("zone", "where", "about", "host", "uid"):
        words.add_argument(f"--{name}", default="")
    for name, default in (("minutes", 60), ("days", 0), ("remind", 0), ("times", 0), ("update", 0)):
        words.add_argument(f"--{name}", type=int, default=default)
    words.add_argument("--repeat", choices=("daily", "weekly"), default="")
    words.add_argument("--guest", action="append", default=[], metavar="MAIL")
    given = words.parse_args()
    if not given.days and not given.zone:
        words.error("say --zone, such as Europe/Berlin")
    try:
        main(given)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"make_ics: {error}")

"""Where a command runs and what it is given, whichever of several ways it took there; and how far that is followed."""

import pytest
from guard_places import judged, otherwise

from hermes_tool_guard import memory, scene

# How many steps have to be allowed for these to be followed to their end.
WORK = (
    ("ls", 8),
    ("ls; ls", 10),
    ("ls a b", 10),
    ("ls a 'b'", 13),
    ("ls a b c d e f g", 15),
    ("ls a b c d e f g h", 17),
    ("ls a b c d e f g h i j k l m n o p", 26),
    ("eval ls", 16),
    ("eval eval ls", 24),
    ("{ ls; }", 9),
    ("x=a", 8),
    ("x=(a b)", 9),
    ("rm a b", 10),
    ("rm {a,b}", 12),
    ("x=a; true && x=b; rm $x", 22),
    ("x=a; true && x=b; rm $x $x", 33),
    ("for i in a b; do ls; done", 10),
    ("for i in a; do x=$x$i; done", 16),
    ("case a in a) ls;; esac", 11),
    ("f() { ls; }; f; f", 17),
    ("cat x > y", 11),
    ("nice ls", 10),
    ("python3 -c 'print(1)'", 11),
    ("echo $(ls)", 12),
)

# What is done here is done outside of the folder, or with what may come from there.
ELSEWHERE = r"""
c''d / && ls > etc/x
'cd' / && ls > etc/x
c\d / && ls > etc/x
"pu"shd / && ls > etc/x
'eval' "c""d /" && ls > etc/x
f() { cd /; }; f && ls > etc/x
builtin cd / && ls > etc/x
builtin cd ..; rm -rf x
command cd ..; rm -rf x
command -- cd ..; rm -rf x
command -p pushd ..; rm -rf x
command cd .. && ls > x
! command cd ..; rm -rf x
builtin eval 'cd ..'; rm -rf x
time cd ..; rm -rf x
time -p cd ..; rm -rf x
f() { cd sub; }; command f; rm -rf ../x
for d in .. sub; do cd $d; rm -rf x; done
for d in sub ..; do cd $d; rm -rf x; done
d=..; true && d=sub; cd $d; rm -rf x
d=sub; true && d=..; cd $d; rm -rf x
cd / && true && ls > etc/x
if ls; then x='rm -rf ~/y'; else x=ls; fi; echo "$x" | sh
if ls; then x=ls; else x='rm -rf ~/y'; fi; echo "$x" | sh
if ls; then x=/etc; else x=a; fi; rm -rf $(echo $x)
if ls; then x=/etc; else x=a; fi; y=$(echo $x); rm -rf $y
for x in 'rm -rf ~/y' ls; do echo "$x" | sh; done
""".strip().split("\n")
HERE = """
cd sub && ls > ../x
command cd sub && rm -rf x
builtin cd sub; ls > x
time cd sub; rm -rf x
cd .. & rm -rf x
(cd ..); rm -rf x
for d in a b; do (cd $d && rm -rf x); done
x=a; true && x=b; echo $x
f() { cd /tmp/a; }; f && ls > x
""".strip().split("\n")


def test_what_is_done_elsewhere_is_asked_about_whichever_way_led_there() -> None:
    assert otherwise("ask", ELSEWHERE) == {}


def test_what_stays_in_the_folder_needs_no_yes() -> None:
    assert otherwise("allow", HERE) == {}


def work(command: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many steps have to be allowed for a command to be followed to its end."""
    least, most = 0, 4096
    while least < most:
        memory.memory_of.cache_clear()  # what is known costs what it did, but only as a whole
        steps = (least + most) // 2
        monkeypatch.setattr(scene, "STEPS", steps)
        followed = judged(command).reason != "is too tangled to follow"
        least, most = (least, steps) if followed else (steps + 1, most)
    return least


def test_all_that_is_looked_at_counts_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {command: work(command, monkeypatch) for command, _ in WORK} == dict(WORK)


def test_code_inside_code_is_followed_so_far() -> None:
    assert judged("eval " * 11 + "ls").outcome == "allow"
    assert judged("eval " * 12 + "ls").reason == "runs code inside code, too deep to follow"
    chain = [f"{a}() {{ {b}; }}; " for a, b in zip("abcdefghij", "bcdefghijk", strict=True)]
    assert judged("".join(chain[:9]) + "j() { ls; }; a").outcome == "allow"
    assert judged("".join(chain) + "k() { ls; }; a").reason == "calls functions too deep to follow"
    assert judged("{ " * 29 + "ls" + "; }" * 29).outcome == "allow"
    for many in ("eval ls", "f", "(ls)", "x=$(ls)"):  # one after the other is not one inside the other
        assert judged("f() { ls; }; " + f"{many}; " * 70 + "ls").outcome == "allow"

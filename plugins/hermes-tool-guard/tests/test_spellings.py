"""However a dangerous command is dressed up, it is never let through."""

import base64
import re

import pytest
from guard_places import corpus, judged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DANGEROUS = [c for c in (*corpus("never.txt"), *corpus("hostile.txt")) if judged(c).outcome != "allow"]
# One plain command each: these may be wrapped and quoted without changing what they mean.
PLAIN = [c for c in DANGEROUS if re.fullmatch(r"[a-z][a-z-]* [\w ./:@~=-]+", c) and not re.search(r"^\w+=|^git$", c)]
WRAPPERS = (
    "{}",
    "sudo {}",
    "env {}",
    "nice {}",
    "nohup {}",
    "timeout 5 {}",
    "time {}",
    "command {}",
    "setsid {}",
    "stdbuf -oL {}",
    "X=1 {}",
    "{} &",
    "({})",
    "{{ {}; }}",
    "! {}",
    "if true; then {}; fi",
    "for i in 1; do {}; done",
    "while :; do {}; done",
    "ls; {}",
    "ls && {}",
    "ls || {}",
    "ls | {}",
    "{} | cat",
    "{} # harmless",
    "f() {{ {}; }}; f",
    "echo $({})",
    "echo `{}`",
    "cat <({})",
    "{}\nls",
    "ls\n{}",
    "  {}  ",
    "case a in *) {};; esac",
    "xargs {}",
    "ionice -c3 {}",
    "env -i {}",
    "{};",
    "trap '{}' EXIT",
    "eval {}",
    "bash -c '{}'",
    'sh -c "{}"',
    "bash <<< '{}'",
    "bash <<'E'\n{}\nE",
    "echo '{}' | sh",
    "cat <<'E' | bash\n{}\nE",
    "su -c '{}'",
    "watch '{}'",
    "busybox {}",
    "strace {}",
    "flock /tmp/l {}",
    "coproc {}",
    "ssh h '{}'",
    "script -c '{}' /dev/null",
    "chroot / {}",
    "unshare {}",
    "exec {}",
    "doas {}",
    "A=1 B=2 env C=3 nice -n 5 {}",
)
SPACES = (
    " ",
    "  ",
    "\t",
    " \\\n ",
    "${IFS}",
    "$IFS''",  # without the quotes, the next word would be part of the name
    " $EMPTY ",
    "\u00a0",
    "\u2003",
    "\u3000",
    "\u200b",
    "\u2028",
    "\x0b",
    "\r",
)


def test_there_is_something_to_dress_up() -> None:
    assert len(PLAIN) > 150
    assert len(DANGEROUS) > 800


@st.composite
def dressed(draw: st.DrawFn) -> str:
    words = draw(st.sampled_from(PLAIN)).split(" ")
    # The first word's quoting never changes what runs; other words are quoted only where nothing expands in them.
    for i, word in enumerate(words):
        if i == 0 or not re.search(r"[~=]", word):
            words[i] = draw(st.sampled_from(QUOTES))(word)
    command = draw(st.sampled_from(SPACES)).join(words) if draw(st.booleans()) else " ".join(words)
    for _ in range(draw(st.integers(0, 2))):
        wrapper = draw(st.sampled_from(WRAPPERS))
        if ("'" not in wrapper and '"' not in wrapper) or (
            "'" not in command
            and '"' not in command
            and "$" not in command
            and "`" not in command
            and "\\" not in command
        ):
            command = wrapper.format(command)
    return command


QUOTES = (
    lambda w: w,
    lambda w: f"'{w}'",
    lambda w: f'"{w}"',
    lambda w: f"{w[0]}''{w[1:]}",
    lambda w: f'{w[0]}""{w[1:]}',
    lambda w: f"\\{w}" if w[0].isalpha() else w,
    lambda w: f"$'{w}'",
    lambda w: "$'" + "".join(f"\\x{ord(c):02x}" for c in w) + "'",
    lambda w: "$'" + "".join(f"\\{ord(c):03o}" for c in w) + "'",
    lambda w: f"{w[:1]}\\\n{w[1:]}",
    lambda w: f"${{UNSET}}{w}",
    lambda w: f"{w}$UNSET",
    lambda w: f'{w}"$(true)"',
    lambda w: f"$(printf %s {w})",  # echo would take -e for itself
)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(dressed())
@pytest.mark.long
def test_a_dressed_up_danger_is_never_allowed(command: str) -> None:
    assert judged(command).outcome != "allow", command


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(DANGEROUS), st.sampled_from(("ls; {}", "{}\nls", "true && {}", "ls &\n{}", "({})")))
def test_company_makes_nothing_harmless(command: str, form: str) -> None:
    assert judged(form.format(command)).outcome != "allow", command


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([c for c in DANGEROUS if not re.search(r"\$[1@*]", c)]))  # a new shell has no arguments
def test_an_encoded_danger_is_never_allowed(command: str) -> None:
    encoded = base64.b64encode(command.encode()).decode()
    assert judged(f"echo {encoded} | base64 -d | bash").outcome != "allow"
    assert judged(f'eval "$(echo {encoded} | base64 -d)"').outcome != "allow"
    assert judged(f"echo {command.encode().hex()} | xxd -r -p | sh").outcome != "allow"


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_any_text_gets_a_verdict(text: str) -> None:
    assert judged(text).outcome in ("allow", "ask", "deny")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from("'\"`$(){}[]<>|&;!#*?~\\ \n\ta=-/rm"), max_size=80).map("".join))
def test_any_heap_of_shell_characters_gets_a_verdict(text: str) -> None:
    assert judged(text).outcome in ("allow", "ask", "deny")


@pytest.mark.parametrize(
    "text",
    [
        "a=(" * 8000,
        "[[" * 16000,
        "$(" * 8000,
        "(" * 30000,
        "<<A " * 8000,
        "{a," * 8000,
        "`" * 30000,
        "x" * 70_000,
        "echo " + "a " * 30_000,
        "for i in 1; do " * 3000,
        "eval " * 9000 + "ls",
        "sudo " * 9000 + "ls",
        "\\" * 60_000,
        "{1..99999999}",
        "rm {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
        "f() { f; f; }; f",
        "$((" * 9000,
        "X=a; " + "X=$X$X; " * 60 + "rm $X",
        "bash -c " * 40 + "ls",
        "if a; then " * 4000,
        "case x in " * 4000,
    ],
    ids=range(21),
)
def test_what_is_long_deep_or_tangled_is_not_let_through_unread(text: str) -> None:
    assert judged(text).outcome in ("ask", "deny") or set(text.split()) <= {"echo", "sudo", "eval", "ls", *"a"}


def test_many_values_are_not_lost() -> None:
    """A target that may be one of many is still seen when one of them is vital."""
    names = " ".join(f"d{i}" for i in range(12))
    assert judged(f"for d in {names} /; do rm -rf $d; done").outcome == "deny"
    assert judged(f'for d in {names} {names.upper()} /; do rm -rf "$d"; done').outcome != "allow"

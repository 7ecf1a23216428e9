"""Forges: looking is free."""

from hermes_tool_guard.judgement import Class
from hermes_tool_guard.run import Program, Run, each, names

_FORGE_READS = names("view list status diff checks watch search ls show browse download checkout clone")
# What the forge has of its own; any other first word may be an extension, or an alias for anything. Keys, secrets,
# extensions and aliases are left out.
_OF_THE_FORGE = names(
    "pr mr issue repo project run workflow ci pipeline job release label milestone gist snippet ruleset cache "
    "org group variable schedule codespace attestation deployment incident iteration board user search issues "
    "pulls releases labels milestones repos branches organizations notifications times logins actions "
)


_VALUED = names(
    "-R --repo --hostname -L --limit -s --state -l --label -a --assignee -q --jq -t --template -S --search -A --author "
    "-w --workflow -b --branch -B --base -H --head -u --user -e --event -p --pattern -D --dir -X --method -f -F "
    "--field "
    "--raw-field --input --json --preview --cache"
)


def _forge(run: Run) -> None:
    words = run.options(_VALUED).rest
    if words[:2] == ["auth", "token"] or "--show-token" in run.args or "-t" in run.args:
        run.ask(Class.CREDENTIALS, "shows the token of your account")
    elif (
        words[:2] == ["auth", "status"]
        or (len(words) > 1 and words[1] in _FORGE_READS and words[0] in _OF_THE_FORGE)
        or (
            words[:1] == ["api"]
            and not any(
                a.startswith(("-X", "-f", "-F", "--method", "--field", "--raw-field", "--input")) for a in run.args
            )
        )
        or not words
        or words[0] in ("status", "help", "version", "search")
    ):
        run.note(Class.FETCH)
        if len(words) > 1 and words[1] in ("checkout", "clone", "download"):
            run.note(Class.WRITE)
            run.note(Class.PROJECT)
    else:
        run.ask(Class.SEND, f"changes something at the forge with {run.name} {' '.join(words[:2])}")
    run.unknown(run.args if words[:1] == ["api"] else [])


PROGRAMS: dict[str, Program] = each(_forge, "gh glab hub tea")

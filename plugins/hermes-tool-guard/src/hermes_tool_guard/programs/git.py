"""git and its forges: local work is free, what goes out or rewrites is not."""

import os
import re
import shlex
from collections.abc import Sequence

from hermes_core.types import Effect
from hermes_tool_guard.judgement import LISTED, UNKNOWN, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.programs import git_places
from hermes_tool_guard.programs.git_forms import ALONE_LISTS, LISTS, VERBS_BELOW
from hermes_tool_guard.programs.git_losses import ignored_deleted, loses
from hermes_tool_guard.programs.git_settings import configure, setting
from hermes_tool_guard.run import Program, Run, beginnings, names

_GLOBAL_VALUED = names("--attr-source -C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix")
# What the commands do to the world: look, write in the folder and git's own data, run the project's hooks as well,
# or more. Commands that are not here may be aliases for anything.
_LOOKS = names(
    "status log diff show blame annotate shortlog describe ls-files ls-tree cat-file rev-parse rev-list name-rev grep "
    "show-ref show-branch for-each-ref var version help whatchanged cherry count-objects fsck diff-tree diff-index "
    "diff-files merge-base merge-tree check-ignore check-attr check-ref-format range-diff stripspace column "
    "verify-commit verify-tag patch-id interpret-trailers ls verify-pack check-mailmap get-tar-commit-id"
)
_WRITES = names(
    "add mv init stash tag branch restore reset notes archive apply format-patch config remote sparse-checkout reflog "
    "symbolic-ref clean gc prune rm hash-object write-tree read-tree update-index mktree commit-tree maintenance "
    "bundle bugreport diagnose merge-file rerere repack pack-refs update-ref replace credential"
)
_HOOKED = names(
    "commit merge checkout switch cherry-pick revert am rebase worktree bisect flow absorb standup machete town "
    "subtree filter-branch filter-repo difftool mergetool gui citool daemon instaweb submodule lfs"
)
_REMOTE = names("fetch pull clone ls-remote push request-pull fetch-pack send-email svn p4")
_LOCAL = _LOOKS | _WRITES | _HOOKED | _REMOTE


def _effects(command: str, words: Sequence[str]) -> frozenset[Effect]:
    """What a git command does to the world."""
    if command in _LOOKS or (not words and command in ALONE_LISTS) or (command == "config" and len(words) == 1):
        return _ONLY_READS
    if words and command in LISTS and re.fullmatch(LISTS[command], words[0]):
        return _ONLY_READS
    if command in ("fetch", "ls-remote"):
        return frozenset({Effect.NETWORK})
    if command == "clone":
        return frozenset({Effect.NETWORK, Effect.WRITE_FILES})
    if command == "pull" or command in ("submodule", "lfs"):
        return frozenset({Effect.NETWORK, Effect.WRITE_FILES, Effect.EXECUTE})
    if command == "remote":
        return frozenset({Effect.NETWORK if words[0] in ("show", "update", "prune") else Effect.WRITE_FILES})
    if command in _HOOKED:
        return frozenset({Effect.WRITE_FILES, Effect.EXECUTE})
    return frozenset({Effect.WRITE_FILES})


_ONLY_READS = frozenset({Effect.READ_FILES})


def _git(run: Run) -> None:
    words = list(run.args)
    while words and words[0][:1] == "-":
        word = words.pop(0)
        name, eq, value = word.partition("=")
        if name in _GLOBAL_VALUED and not eq:
            value = words.pop(0) if words else ""
        _global_option(run, name, value, words)
    if not words:
        run.note(Class.READ)
    elif any(c in words[0] for c in UNKNOWN):
        run.unknown(words[:1])
    elif words[0] not in _LOCAL:
        run.ask(Class.CODE, f"runs git {words[0]}, which may be an alias for anything")
    else:
        run.args = words[1:]
        git_places.within(run)
        _command(run, words[0])


def _global_option(run: Run, name: str, value: str, words: Sequence[str]) -> None:
    if name in ("-c", "--config-env"):
        setting(run, value)
    elif name == "--exec-path" and value:
        run.ask(Class.CODE, "decides which programs git runs")
    elif name in ("-C", "--git-dir", "--work-tree"):
        places = run.scene.places
        if any(map(places.keeps_guarded, places.absolute(value, run.folders))) and words and words[0] not in _LOOKS:
            run.deny(Class.HERMES, f"works in {value[:60]}, where files of Hermes itself are")
        if not run.inside(value) and not run.scene.places.root.startswith(value):
            run.note(Class.READ)
            _elsewhere(run, value, words)
        if name == "--git-dir":
            for path in map(os.path.normpath, places.absolute(value, run.folders)):
                if path != f"{places.root}/.git":
                    git_places.looks_bare(run, path)
        else:
            run.folders = tuple(run.scene.places.absolute(value, run.folders))


# Commands whose words are names and texts: what is not known among them is no option.
_TEXTS = names(
    "commit add log show diff tag checkout switch branch blame rev-parse cat-file describe merge rev-list "
    "cherry-pick revert stash show-ref"
)


def _command(run: Run, command: str) -> None:
    words = run.args
    if command in VERBS_BELOW:
        run.unknown(words[:1])
    elif command not in _TEXTS:
        run.unknown(w for w in words if w[:1] in ("\0", "\1"))
    if command in _REMOTE and any(c in word and (":" in word or "/" in word) for word in words[:9] for c in UNKNOWN):
        run.ask(Class.SEND, "sends something to a remote that is only known when it runs")
    run.note(Class.FETCH if command in _REMOTE - {"push"} else Class.GIT, *_effects(command, words))
    _COMMANDS.get(command, _plain)(run)
    _runs_something(run, command)
    if command == "ls-files" or "--name-only" in words:
        run.output = f"./{LISTED}" if any(w[:1] != "-" for w in words) else "./*"


def _elsewhere(run: Run, folder: str, words: Sequence[str]) -> None:
    if words and words[0] not in names(
        "status log diff show branch rev-parse ls-files blame describe remote shortlog grep rev-list ls-tree cat-file"
    ):
        run.ask(Class.GIT, f"works in a git repository outside of the folder ({folder[:60]})")


def _runs_something(run: Run, command: str) -> None:
    for word in run.args:
        if (
            word.startswith(
                beginnings("--upload-pack --receive-pack --exec --extcmd --tool= --ext-diff --open-files-in-pager")
            )
            or (
                command in ("clone", "fetch", "pull", "push", "ls-remote")
                and (word.startswith("ext::") or (word == "-u" and command == "clone"))
            )
            or (command == "grep" and word.startswith("-O"))
            or (command == "difftool" and word in ("-x", "-t"))
        ):
            run.ask(Class.CODE, f"makes git {command} run another program")
            return
    if command in ("rebase", "bisect") and any(w in ("-x", "run") or w.startswith(("--exec", "-x")) for w in run.args):
        rest = run.args[
            next(i for i, w in enumerate(run.args) if w in ("-x", "run") or w.startswith(("--exec", "-x"))) + 1 :
        ]
        run.code(rest[0] if command == "rebase" and rest else shlex.join(rest))
        run.note(Class.PROJECT)


def _plain(run: Run) -> None:
    for i, word in enumerate(run.args):
        if word in ("-o", "--output", "--output-directory") and i + 1 < len(run.args):
            run.write(run.args[i + 1])
        elif word.startswith(("--output=", "--output-directory=")):
            run.write(word.partition("=")[2])


def _rewrites(run: Run, why: str) -> None:
    run.ask(Class.GIT_HISTORY, why)


def _push(run: Run) -> None:
    options = run.options({"-o", "--push-option", "--repo"})
    if options.has("--force", "-f", "--force-with-lease", "--force-if-includes", "--mirror", "--prune") or any(
        a.startswith("+") for a in options.rest
    ):
        _rewrites(run, "overwrites history on the remote with git push --force")
    elif options.has("--delete", "-d") or any(a.startswith(":") for a in options.rest):
        _rewrites(run, "deletes a branch or tag on the remote")
    run.ask(Class.SEND, "sends commits to a remote with git push")


def _reset(run: Run) -> None:
    options = run.options()
    if options.has("--keep"):
        _rewrites(run, "moves a branch with git reset --keep")
    elif options.has("--hard", "--merge"):
        loses(run, "throws changes away with git reset --hard")


def _clean(run: Run) -> None:
    options = run.options({"-e", "--exclude"})
    if options.has("-n", "--dry-run"):
        return
    for word in options.rest or ["."]:
        for path, zone in run._zones(word, whole=True):
            if zone in (Zone.VITAL, Zone.GUARDED):
                run.deny(
                    Class.DELETE, f"deletes what git does not know in {path}, a place that everything else depends on"
                )
    _rewrites(run, "deletes files that git does not know")
    if options.has("-x", "-X"):
        ignored_deleted(run, options.rest or ["."])


def _branch(run: Run) -> None:
    options = run.options({"-u", "--set-upstream-to", "--contains", "--sort", "--format", "--points-at"})
    if options.has("-D") or (options.has("-d", "--delete") and options.has("-f", "--force")):
        loses(run, "deletes or moves a branch that may not be merged")
    elif options.has("-M", "-C", "--force", "-f"):
        _rewrites(run, "deletes or moves a branch that may not be merged")


def _tag(run: Run) -> None:
    if run.options({"-m", "-F", "-u", "-n"}).has("-d", "--delete", "-f", "--force"):
        loses(run, "deletes or moves a tag")


def _checkout(run: Run) -> None:
    options = run.options({"-b", "-B", "--orphan", "-c", "-C", "--conflict", "-s", "--source"})
    command_discards = options.has("-f", "--force", "-B", "--discard-changes", "-C")
    if command_discards or any(w in (".", "./", ":/", "*") for w in options.rest):
        _rewrites(run, "throws away changes that are not committed")


def _restore(run: Run) -> None:
    options = run.options({"-s", "--source", "--conflict"})
    if any(w in (".", "./", ":/", "*") for w in options.rest) and not (
        options.has("-S", "--staged") and not options.has("-W", "--worktree")
    ):
        _rewrites(run, "throws away changes that are not committed")


def _stash(run: Run) -> None:
    if run.args[:1] and run.args[0] in ("drop", "clear"):
        loses(run, "throws stashed changes away")


def _rebase(run: Run) -> None:
    if any(w in ("--abort", "--quit", "--continue", "--skip", "--show-current-patch") for w in run.args):
        run.note(Class.GIT)
        return
    run.note(Class.GIT_HISTORY)


def _commit(run: Run) -> None:
    options = run.options(
        names("-m -F -C -c -t --message --file --author --date --fixup --squash --trailer --cleanup -S")
    )
    for file in options.values("-F", "--file"):
        run.read(file)


def _reflog(run: Run) -> None:
    if run.args[:1] and run.args[0] in ("expire", "delete"):
        loses(run, "deletes what git could still bring back")


def _gc(run: Run) -> None:
    if any(w.startswith(("--prune", "--aggressive")) for w in run.args) or run.argv[1:2] == ["prune"]:
        loses(run, "deletes what git could still bring back")


def _history(run: Run) -> None:
    loses(run, "rewrites the history of the repository")


def _archive(run: Run) -> None:
    if run.options({"--remote"}).has("--remote"):
        run.note(Class.FETCH)
        run.ask(Class.FETCH, "has another machine make an archive with git archive --remote")
    _plain(run)


def _remote(run: Run) -> None:
    words = [w for w in run.args if w[:1] != "-"]
    if words[:1] in (["add"], ["set-url"], ["rename"]):
        run.ask(Class.SEND, "changes where git sends commits to")


def _clone(run: Run) -> None:
    options = run.options(
        names(
            "-b --branch --depth -o --origin -j --jobs -c --config --reference --filter --template "
            "--separate-git-dir -u"
        )
    )
    for given in options.values("-c", "--config"):
        setting(run, given)
    if options.has("--template"):
        run.ask(Class.CODE, "takes git hooks from a template")
    if len(options.rest) > 1:
        run.write(options.rest[1])
    run.unknown(options.rest[:1])


def _fetch(run: Run) -> None:
    options = run.options({"--depth", "-j", "--jobs", "-o", "--upload-pack", "-s", "-X"})
    if options.has("--force", "-f") or any(w.startswith("+") for w in options.rest):
        _rewrites(run, "overwrites local branches with what the remote has")


def _worktree(run: Run) -> None:
    words = [w for w in run.args if w[:1] != "-"]
    if words[:1] in (["list"], ["prune"], ["lock"], ["unlock"]) or not words:
        return
    if words[0] == "add" and len(words) > 1:
        run.write(words[1])
    else:
        for word in words[1:]:
            run.delete(word)


def _submodule(run: Run) -> None:
    if "foreach" in run.args:
        run.code(" ".join(run.args[run.args.index("foreach") + 1 :]))
        run.ask(Class.CODE, "runs a command in every submodule")


_LFS = names("fetch pull checkout track untrack install uninstall update clone logs pointer fsck dedup ext post-merge")
_LFS |= names("ls-files status env version help post-checkout post-commit clean smudge filter-process")


def _lfs(run: Run) -> None:
    first = next((w for w in run.args if w[:1] != "-"), "")
    if first in ("push", "pre-push", "lock", "unlock"):
        run.ask(Class.SEND, f"sends something to a remote with git lfs {first}")
    elif first == "migrate":
        _rewrites(run, "rewrites the history of the repository")
    elif first == "prune":
        _rewrites(run, "deletes what git could still bring back")
    elif first and first not in _LFS:
        run.ask(Class.CODE, f"runs git lfs {first[:40]}, which the guard does not know")


def _asks(why: str, what: Class) -> Program:
    def judge(run: Run) -> None:
        run.ask(what, why)

    return judge


def _bundle(run: Run) -> None:
    if run.args[:1] == ["create"]:
        for word in [w for w in run.args[1:] if w[:1] != "-"][:1]:
            run.write(word)


def _rm(run: Run) -> None:
    options = run.options()
    for word in options.rest:
        run.delete(word)


_COMMANDS: dict[str, Program] = {
    "push": _push,
    "reset": _reset,
    "clean": _clean,
    "branch": _branch,
    "tag": _tag,
    "checkout": _checkout,
    "switch": _checkout,
    "restore": _restore,
    "stash": _stash,
    "rebase": _rebase,
    "commit": _commit,
    "reflog": _reflog,
    "gc": _gc,
    "prune": _gc,
    "filter-branch": _history,
    "filter-repo": _history,
    "update-ref": _history,
    "replace": _history,
    "config": configure,
    "remote": _remote,
    "init": git_places.init,
    "apply": git_places.apply,
    "archive": _archive,
    "maintenance": git_places.maintenance,
    "clone": _clone,
    "fetch": _fetch,
    "pull": _fetch,
    "worktree": _worktree,
    "submodule": _submodule,
    "lfs": _lfs,
    "ls-remote": _fetch,
    "rm": _rm,
    "bundle": _bundle,
    "send-email": _asks("sends mail", Class.SEND),
    "daemon": _asks("serves the repository", Class.SERVE),
    "instaweb": _asks("serves the repository", Class.SERVE),
    "credential": _asks("reads or changes stored passwords", Class.CREDENTIALS),
    "svn": _asks("talks to a remote", Class.SEND),
    "p4": _asks("talks to a remote", Class.SEND),
    "request-pull": _plain,
    "difftool": _asks("runs another program to show differences", Class.CODE),
    "mergetool": _asks("runs another program to merge", Class.CODE),
}
PROGRAMS: dict[str, Program] = {"git": _git}

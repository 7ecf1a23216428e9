"""Programs whose first words say what they do: looking is free, the project's work is, all else is asked about."""

from collections.abc import Sequence

from hermes_tool_guard.judgement import Class
from hermes_tool_guard.run import Program, Run, names

__all__ = ["PROGRAMS", "by_verb"]

_ABOUT = names("-v -V -version -h -help --version --help")
_FREE = frozenset({Class.READ, Class.WRITE, Class.PROJECT, Class.FETCH, Class.GIT})
Rows = Sequence[tuple[str, str]]  # what it does, named as in Class, several with a +; and the verbs that do it


_FLAGS = names("-q --quiet --verbose --json --debug --no-color -no-color --yes -y --offline --no-input") | _ABOUT


def _strange(args: Sequence[str], takes: frozenset[str]) -> str:
    """An option before the verb that may take the next word for its value: then another word is the verb."""
    at = 0
    while at < len(args) and args[at][:1] == "-":
        word = args[at]
        if word in takes:
            at += 1
        elif "=" not in word and word not in _FLAGS and at + 1 < len(args):
            return word
        at += 1
    return ""


def by_verb(otherwise: Class, why: str, rows: Rows, valued: str = "") -> Program:
    """A judge that looks at the first two words, then at the first. Two words are written with a dot: ``env.list``.

    An empty verb ``-`` is the program by itself. ``valued`` are options of the program that take a value.
    """
    table: dict[str, tuple[Class, ...]] = {}
    for classes, verbs in rows:
        kinds = tuple(Class[one] for one in classes.split("+"))
        table |= {verb.replace(".", " ") if verb != "." else verb: kinds for verb in verbs.split()}
    takes = names(valued)

    def judge(run: Run) -> None:
        words = run.options(takes).rest
        if run.unknown(words[:1]):
            return
        if strange := _strange(run.args, takes):
            run.ask(otherwise, f"{why} with {run.name} {strange[:40]}, or something else")
            return
        alone = "-" if set(run.args) <= _ABOUT else "--"
        two, one = " ".join(words[:2]), words[0] if words else alone
        found = table.get(two) or table.get(one)
        for what in found or ():
            run.note(what) if what in _FREE else run.ask(what, f"{why} with {run.name} {two[:50]}")
        if found is None:
            run.ask(otherwise, f"{why} with {run.name} {two[:50]}")

    return judge


_CONDA = by_verb(
    Class.INSTALL,
    "changes the installed software",
    (
        ("READ", "list info env.list env.export compare notices -"),
        ("FETCH", "search"),
        ("PROJECT", "activate deactivate"),
    ),
    "-n --name -p --prefix",
)


def _conda(run: Run) -> None:
    if run.args[:1] == ["run"]:
        rest = run.args[1:]
        while rest and rest[0][:1] == "-":
            rest = rest[2 if rest[0] in ("-n", "--name", "-p", "--prefix") else 1 :]
        run.note(Class.PROJECT)
        run.inner(rest)
    elif run.args[:2] == ["config", "--show"]:
        run.note(Class.READ)
    else:
        _CONDA(run)


PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(("conda", "mamba", "micromamba"), _conda),
    "dvc": by_verb(
        Class.CODE,
        "changes data under version control",
        (
            ("READ", "status dag diff data.status metrics.show metrics.diff params.diff plots.show root version"),
            ("READ", "remote.list cache.dir stage.list exp.show exp.list exp.diff doctor check-ignore -"),
            ("PROJECT", "repro exp.run stage.add"),
            ("FETCH", "fetch list list-url get get-url import import-url"),
            ("FETCH+WRITE", "pull"),
            ("WRITE", "add commit checkout init move freeze unfreeze"),
            ("SEND", "push"),
        ),
    ),
    "dbt": by_verb(
        Class.DATABASE,
        "changes a database",
        (
            ("PROJECT", "compile parse test docs.generate source.freshness list ls debug show build run seed snapshot"),
            ("PROJECT+FETCH", "deps"),
            ("WRITE", "clean init"),
        ),
        "-s --select --exclude --target -t --profiles-dir --project-dir --vars",
    ),
    "prisma": by_verb(
        Class.DATABASE,
        "changes a database",
        (
            ("PROJECT", "generate format validate migrate.dev migrate.status migrate.diff studio version"),
            ("FETCH", "db.pull"),
        ),
    ),
    "vault": by_verb(Class.CREDENTIALS, "shows or changes secrets", (("FETCH", "status version"),)),
    "consul": by_verb(
        Class.SERVICES, "changes services", (("FETCH", "members info version catalog.services catalog.nodes validate"),)
    ),
    "nix": by_verb(
        Class.INSTALL,
        "changes the installed software",
        (
            ("READ", "flake.show flake.metadata eval path-info why-depends store.ls log hash show-config -"),
            ("FETCH", "search"),
            ("PROJECT+FETCH", "build flake.check develop flake.update flake.lock"),
            ("WRITE", "fmt flake.init"),
        ),
    ),
    "defaults": by_verb(
        Class.PERSISTENCE, "changes the system's settings", (("READ", "read read-type domains find help"),)
    ),
    **dict.fromkeys(
        ("rails", "hanami"),
        by_verb(
            Class.CODE,
            "runs code",
            (
                (
                    "PROJECT",
                    "routes test test:system test:all about stats notes generate g destroy d middleware zeitwerk:check",
                ),
                (
                    "PROJECT",
                    "db:migrate db:migrate:status db:rollback db:seed db:version db:create db:prepare db:schema:dump",
                ),
                (
                    "PROJECT",
                    "db:test:prepare assets:precompile assets:clobber tmp:clear log:clear spec -T --tasks initializers",
                ),
                ("PROJECT", "server s dev:cache i18n webpacker:compile db:abort_if_pending_migrations"),
                ("DATABASE", "db:drop db:reset db:schema:load db:setup db:structure:load db:truncate_all"),
                ("CREDENTIALS", "credentials:show credentials:edit secrets:show encrypted:show"),
                ("INSTALL", "new app:update"),
            ),
        ),
    ),
    **dict.fromkeys(
        ("supabase", "wrangler", "vercel", "netlify", "firebase"),
        by_verb(
            Class.CLOUD,
            "changes something in a cloud",
            (
                (
                    "PROJECT",
                    "dev build start emulators:start emulators:exec serve check types gen.types functions.serve",
                ),
                ("READ", "status version"),
                ("FETCH", "list ls whoami logs projects:list projects.list deployments.list inspect"),
            ),
        ),
    ),
    "hg": by_verb(
        Class.GIT_HISTORY,
        "changes a repository",
        (
            ("READ", "status st log diff summary branches cat annotate blame heads id files tags bookmarks"),
            ("GIT+PROJECT", "add commit ci update up branch bookmark"),
            ("FETCH", "incoming pull clone"),
        ),
    ),
    "svn": by_verb(
        Class.SEND,
        "changes a repository",
        (
            ("READ", "status st diff info"),
            ("FETCH", "log list ls cat blame annotate"),
            ("FETCH+WRITE", "update up checkout co"),
            ("WRITE", "add revert resolve mkdir"),
        ),
    ),
    **dict.fromkeys(
        ("jj", "fossil", "bzr"),
        by_verb(
            Class.GIT_HISTORY,
            "changes a repository",
            (
                ("READ", "status st log diff show info branches bookmark.list cat annotate op.log timeline"),
                ("GIT", "add commit ci update up branch new describe desc edit squash bookmark rebase split"),
                ("FETCH", "git.fetch pull clone"),
                ("SEND", "git.push push"),
            ),
        ),
    ),
}


def _nix(run: Run) -> None:
    at = next((i for i, word in enumerate(run.args) if word in ("-c", "--command")), -1)
    if at >= 0:
        run.inner(run.args[at + 1 :])
    _NIX(run)


_NIX, PROGRAMS["nix"] = PROGRAMS["nix"], _nix

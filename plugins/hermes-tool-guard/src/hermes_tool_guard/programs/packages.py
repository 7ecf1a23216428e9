"""Package installers: what the project asks for is a build; anything else brings in code from outside."""

import re
from collections.abc import Container, Sequence

from hermes_tool_guard.judgement import Class
from hermes_tool_guard.programs.wellknown import is_well_known
from hermes_tool_guard.run import Program, Run, each, names

LOOKS = names(
    "list ls show view info search outdated why audit check config get help version -v --version "
    "freeze tree explain doctor licenses query fund diff repo docs bugs ping whoami prefix root bin "
    "cache lock verify export env why-not about source licence license dependencies"
)


_FAR_LOOKS = names("view search outdated audit fund repo docs bugs ping whoami index --outdated -o owner")


def looks(run: Run) -> None:
    """It only looks, at the registry perhaps."""
    run.note(Class.READ)
    if _FAR_LOOKS & set(run.args[:4]):
        run.note(Class.FETCH)


def is_local(word: str) -> bool:
    """Whether a package is named by a path."""
    return bool(re.match(r"\.{1,2}(?:/|$|\[)|[\w./-]+\.(?:whl|tar\.gz|tgz|zip|txt)$|/", word))


def known_tool(run: Run, words: list[str], local: bool = False) -> None:
    """npx and its kin: tools of the trade run from the project, others come from the registry."""
    from hermes_tool_guard.programs.building import PROGRAMS as BUILDS
    from hermes_tool_guard.programs.trade import PROGRAMS as TOOLS

    if not words:
        run.note(Class.READ)
        return
    name = words[0]
    if name in TOOLS or name in BUILDS:
        run.note(Class.PROJECT)
        run.inner(words)
    elif name in _PLAIN_TOOLS:
        run.note(Class.PROJECT)
    elif local and re.fullmatch(r"[a-z][\w.-]*", name):
        run.note(Class.PROJECT)
        run.ask(Class.CODE, f"runs {name}, which may come from the registry")
    else:
        run.ask(Class.INSTALL, f"fetches and runs {name[:60]} from the registry")


_PLAIN_TOOLS = names(
    "prisma drizzle-kit tailwindcss shadcn serve-handler husky rimraf cross-env concurrently nodemon "
    "ts-node tsx sort-package-json npm-check-updates ncu license-checker markdownlint "
    "markdownlint-cli2 cspell publint attw size-limit bundlewatch typeorm sequelize knex "
    "patch-package syncpack npm-run-all wait-on zx"
)


def _npx(run: Run) -> None:
    at = _first_word(run.args, {"-p", "--package", "-c", "--call", "-w", "--from", "--with", "--python", "-n"})
    own = Run(run.scene, [run.name, *run.args[:at]], run.folders, run.stdin)
    options = own.options({"-p", "--package", "-c", "--call", "-w", "--from", "--with", "--python", "-n"})
    if options.has("-c", "--call"):
        run.code(options.value("-c", "--call"))
        run.ask(Class.CODE, "runs a command through npx")
    if options.has("-p", "--package", "--from", "--with"):
        run.ask(Class.INSTALL, "fetches a package and runs it")
    if run.name != "npx":  # npx runs what the project has, if it has it
        run.note(Class.FETCH)
    known_tool(run, run.args[at:])


def _pipx(run: Run) -> None:
    words = [word for word in run.args if word[:1] != "-"]
    if not words or words[0] in ("list", "environment", "help", "completions"):
        run.note(Class.READ)
    elif words[0] == "run":
        run.args = run.args[run.args.index("run") + 1 :]
        _npx(run)
    else:
        run.ask(Class.INSTALL, f"changes the installed programs with pipx {words[0][:40]}")


def _first_word(words: Sequence[str], valued: Container[str]) -> int:
    """Where a program's own options end."""
    at = 0
    while at < len(words) and words[at][:1] == "-":
        at += 2 if words[at] in valued else 1
    return min(at, len(words))


def _pip(run: Run) -> None:
    words = [w for w in run.args if w not in ("-q", "-v", "--quiet", "--verbose", "--disable-pip-version-check")]
    first = next((w for w in words if w[:1] != "-"), "")
    if first in ("install", "sync", "download", "wheel"):
        plain = Run(run.scene, [run.name, *words[words.index(first) + 1 :]], run.folders, run.stdin)
        options = plain.options(
            names(
                "-r -c -e -t --requirement --constraint --editable --target --prefix --root -i --index-url "
                "--extra-index-url --find-links -f --python -d -w --no-binary --only-binary --python-version "
                "--platform --progress-bar"
            )
        )
        if options.has("-i", "--index-url", "--extra-index-url", "--find-links", "-f", "--trusted-host", "--proxy"):
            run.ask(Class.INSTALL, "installs packages from another index")
        elif options.has("--break-system-packages", "--user", "--root", "--prefix"):
            run.ask(Class.INSTALL, "installs packages outside of the project")
        for folder in options.values("-t", "--target"):
            run.write(folder)
        places = [*options.values("-e", "--editable"), *options.rest]
        strangers = [
            w
            for w in places
            if not re.match(r"\.{1,2}(?:/|$|\[)|[\w-]+(?:/[\w./-]+)?\.whl$|(?:\./)?[\w./-]+\.txt$", w)
            and not is_well_known(w, "python")
        ]
        if strangers:
            run.ask(Class.INSTALL, f"adds {' '.join(strangers)[:60]} from the index, whose code then runs here")
        for file in options.values("-r", "--requirement", "-c", "--constraint"):
            (run.ask(Class.INSTALL, "installs what a list on the network says") if "://" in file else run.script(file))
        run.note(Class.PROJECT)
        run.note(Class.FETCH)
    elif first == "uninstall":
        run.note(Class.DELETE)
    elif first == "config" and not {"list", "get", "debug"} & set(words):
        run.ask(Class.PERSISTENCE, "changes pip's settings")
    elif (
        first in ("compile", "cache", "inspect", "index", "hash", "debug", "completion") or first in LOOKS or not first
    ):
        looks(run)
    else:
        run.ask(Class.CODE, f"runs {run.name} {first[:40]}, which the guard does not know")


def _uv(run: Run) -> None:
    words = [w for w in run.args if w not in ("-q", "-v", "--quiet", "--offline", "--no-progress")]
    first = next((w for w in words if w[:1] != "-"), "")
    rest = words[words.index(first) + 1 :] if first else []
    if first == "run":
        _uv_run(run, rest)
    elif first == "pip":
        inner = Run(run.scene, ["pip", *rest], run.folders, run.stdin)
        _pip(inner)
    elif first in ("version", "cache", "help", "python", ""):
        if rest[:1] == ["install"]:
            run.ask(Class.INSTALL, "installs another Python")
        run.note(Class.READ)
    elif first in ("venv", "tree", "init", "format", "remove"):
        run.note(Class.PROJECT)
    elif first in ("sync", "lock", "build", "export"):
        run.note(Class.PROJECT)
        run.note(Class.FETCH)
    elif first == "add":
        named = [w for w in rest if w[:1] != "-" and not is_local(w) and not is_well_known(w, "python")]
        if named:
            run.ask(Class.INSTALL, f"adds {' '.join(named)[:60]} from the index, whose code then runs here")
        run.note(Class.PROJECT)
        run.note(Class.FETCH)
    elif first in ("tool", "x"):
        _uv_tool(run, rest)
    else:
        run.ask(Class.SEND if first == "publish" else Class.CODE, f"runs uv {first[:40]}")


def _uv_tool(run: Run, rest: list[str]) -> None:
    if rest[:1] in (["list"], ["dir"]):
        run.note(Class.READ)
    elif rest[:1] == ["run"]:
        run.note(Class.FETCH)
        known_tool(run, [w for w in rest[1:] if w[:1] != "-"])
    else:
        run.ask(Class.INSTALL, "installs a tool with uv")


def _uv_run(run: Run, rest: list[str]) -> None:
    words = list(rest)
    while words and words[0][:1] == "-":
        word = words.pop(0)
        if word in ("--with", "--from", "--with-editable", "--index", "--index-url"):
            if word != "--with-editable":
                run.ask(Class.INSTALL, "fetches another package to run with")
            words[:1] = []
        elif word in names("--python -p --extra --group --package --project --directory --env-file --only-group"):
            words[:1] = []
        elif word in ("--script", "-s") and words:
            run.script(words[0])
            return
        elif word in ("-m", "--module") and words:
            run.inner(["python", "-m", *words])
            return
        elif word == "--":
            break
    if words[:1] and re.search(r"\.py$", words[0]):
        run.script(words[0])
    elif words:
        _in_environment(run, words)


def _in_environment(run: Run, words: list[str]) -> None:
    """A program of the project's own environment: unknown names are scripts of the project."""
    from hermes_tool_guard.programs import PROGRAMS

    if words[0] not in PROGRAMS and re.fullmatch(r"[a-z][\w.:-]*", words[0]):
        run.note(Class.PROJECT)
    else:
        run.inner(words)


_PYTHONS = names("poetry pipenv hatch pdm rye pixi")


def _usual(run: Run, named: list[str]) -> bool:
    """Whether only packages are named that most projects have."""
    registry = "python" if run.name in _PYTHONS else "other"
    elsewhere = any(
        a.startswith(("--index", "--source", "--git", "-i", "--repository", "--path", "--url")) for a in run.args
    )
    return not elsewhere and all(is_well_known(w, registry) for w in named)


def _manager(run: Run) -> None:
    """poetry, pipenv, bundle, composer and the like."""
    words = list(run.args)
    first = next((w for w in words if w[:1] != "-"), "")
    rest = words[words.index(first) + 1 :] if first else []
    named = [w for w in rest if w[:1] != "-"]
    if first in ("run", "exec", "shell") and named:
        _in_environment(run, [w for w in rest if w != "--"][next((i for i, w in enumerate(rest) if w[:1] != "-"), 0) :])
    elif first in names(
        "install sync lock update build check dump-autoload dumpautoload validate test remove clean graph status "
        "env deps.get compile resolve hash pristine outdated matrix fmt"
    ):
        if not _usual(run, named) and first == "install" and run.name not in ("bundle", "poetry", "bundler", "hatch"):
            run.ask(Class.INSTALL, f"adds {' '.join(named)[:60]}, whose code then runs here")
        run.note(Class.PROJECT)
        if first in ("install", "sync", "lock", "update", "deps.get", "resolve"):
            run.note(Class.FETCH)
    elif first in ("add", "require") and named and _usual(run, named):
        run.note(Class.PROJECT)
        run.note(Class.FETCH)
    elif first in ("add", "require", "global", "create-project", "create", "new", "plugin", "self"):
        run.ask(Class.INSTALL, f"adds {' '.join(named)[:60] or 'something'} with {run.name}, whose code then runs here")
    elif first in ("publish", "push", "login", "config"):
        sets = any(w.startswith(("--set", "--unset", "--delete", "-e", "--edit")) or "=" in w for w in rest)
        if first == "config" and not sets and ("--list" in words or len(named) < 2):
            run.note(Class.READ)
        else:
            run.ask(Class.SEND, f"runs {run.name} {first}")
    elif first in ("source", "repo", "remote", "integrate") and named[:1] not in ([], ["list"], ["show"], ["ls"]):
        run.ask(Class.INSTALL, f"changes where {run.name} takes packages from")
    elif first == "open":
        run.ask(Class.CODE, f"opens an editor with {run.name} open")
    elif first in LOOKS or not first:
        looks(run)
    else:
        run.unknown([first])
        run.note(Class.PROJECT)


_SYSTEM_LOOKS = names(
    "list search show info policy depends rdepends provides files whatprovides repolist check-update "
    "history -l -L -s -S -W -Q -Qi -Ql -Qs -Ss -Si -q -qa -ql -qi --version deps leaves outdated "
    "home log cat desc doctor config uses services tap-info --prefix --list --installed "
    "--get-selections list-units list-files listfiles contents why status --print-architecture "
    "--status --help apropos"
)


def _system(run: Run) -> None:
    words = [w for w in run.args if w not in ("-y", "-q", "--quiet")]
    first = words[0] if words else ""
    installs = first == "-S" and run.name not in ("dpkg", "emerge")  # pacman and its kin
    if (
        (first in _SYSTEM_LOOKS and not installs)
        or not words
        or (run.name in ("rpm", "pacman") and re.match(r"-[qQ]|-S[sil]$", first))
    ):
        looks(run)
        if first == "services" and len(words) > 1 and words[1] != "list":
            run.ask(Class.SERVICES, "changes services")
        return
    if first.startswith("-o") or any(w.startswith(("-o", "--option")) for w in words):
        run.ask(Class.CODE, "gives the package manager settings that may run anything")
    run.ask(Class.INSTALL, f"changes the installed software with {run.name} {first}")


_SWITCHES = names(
    "use ls list current which where version versions local shell alias env exec run ls-remote list-remote list-all "
    "default plugin-list doctor activate deactivate init rehash reshim whence --version help settings outdated tasks"
)
_FAR_SWITCHES = names("ls-remote list-remote list-all outdated")


def _switch(run: Run) -> None:
    """Version managers: to choose among what is installed changes nothing for others."""
    first = next((a for a in run.args if a[:1] != "-"), "")
    rest = run.args[run.args.index(first) + 1 :] if first else []
    if first in ("exec", "run", "x") and rest:
        inner = [w for w in rest if w != "--"]
        while inner and (re.match(r"[\w.]+@|v?\d[\w.]*$|--?\w", inner[0])):
            inner.pop(0)
        run.inner(inner)
    elif run.name == "corepack":
        run.note(Class.PROJECT) if first in ("enable", "disable", "prepare", "use") else _system(run)
    elif (not first or first in _SWITCHES) and "--global" not in run.args and "-g" not in run.args:
        run.note(Class.FETCH if first in _FAR_SWITCHES else Class.READ)
        run.note(Class.PROJECT)
    else:
        _system(run)


def _gem(run: Run) -> None:
    first = run.args[0] if run.args else ""
    if first in LOOKS or first in ("which", "contents", "environment", "specification", "stale", "dependency"):
        looks(run)
    elif first == "build":
        run.note(Class.PROJECT)
    else:
        run.ask(Class.INSTALL, f"runs {run.name} {first}")


PROGRAMS: dict[str, Program] = {
    **each(_npx, "npx bunx pnpx uvx"),
    "pipx": _pipx,
    **each(_pip, "pip pip3 pip-sync pip-compile"),
    **each(_manager, "poetry pipenv bundle bundler composer hatch pdm rye pod carthage conan vcpkg pixi spack"),
    **each(
        _system,
        "apt apt-get apt-cache aptitude dpkg yum dnf microdnf rpm zypper pacman yay paru apk brew port "
        "snap flatpak nix-env nix-shell emerge xbps-install pkg pkg_add choco winget scoop opam "
        "update-alternatives alternatives add-apt-repository apt-key guix",
    ),
    **each(_switch, "asdf mise nvm fnm volta pyenv rbenv nodenv goenv jenv tfenv rvm chruby sdk corepack n rtx"),
    **each(_gem, "gem cpan cpanm luarocks hackage rebar tlmgr ansible-galaxy helm-plugin krew"),
    "uv": _uv,
}

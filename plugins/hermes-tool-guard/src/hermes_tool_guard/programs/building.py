"""Builds, tests, linters: they run the project's code, which is what the agent is there for."""

import os
import re
from itertools import pairwise

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.run import Program, Run, beginnings, names
from hermes_tool_guard.scene import shown

_TOOLS = names(
    "pytest py.test tox nox mypy ruff black isort flake8 pylint pyright basedpyright bandit coverage "
    "sphinx-build mkdocs pre-commit jest vitest mocha ava tap karma cypress playwright eslint "
    "prettier tsc webpack vite rollup esbuild parcel next nuxt astro svelte-check svelte-kit turbo "
    "nx lerna biome oxlint stylelint babel swc tsup gulp grunt storybook tailwindcss postcss sass "
    "lint-staged commitlint changeset knip depcheck madge c8 nyc wtr ng vue-cli-service remix gatsby "
    "eleventy hugo metro cargo-clippy cargo-nextest rustc clippy-driver wasm-pack trunk sccache "
    "golangci-lint staticcheck govulncheck gotestsum ninja meson cmake ctest cpack bazel bazelisk "
    "buck2 scons waf autoconf automake autoreconf libtool configure premake gcc g++ cc c++ clang "
    "clang++ ld as nasm yasm gfortran nvcc ccache distcc ldc2 dmd zig nim ghc stack cabal ocamlfind "
    "dune javac mvn mvnw gradle gradlew ant sbt lein kotlinc scalac groovyc bloop mill checkstyle "
    "spotbugs pmd rake rspec rubocop minitest standardrb sorbet srb brakeman reek phpunit phpstan "
    "psalm pint php-cs-fixer phpcs phpcbf pest artisan rector dotnet msbuild nunit-console mix "
    "rebar3 credo dialyzer swiftlint swift-format xcodebuild xcrun flutter dart clang-tidy cppcheck "
    "cpplint iwyu gcovr protoc buf flatc thrift swig bison flex yacc lex re2c antlr4 latex pdflatex "
    "xelatex lualatex latexmk bibtex biber makeindex pandoc asciidoctor typst texi2pdf rst2html "
    "doxygen jsdoc typedoc terraform-docs tflint tfsec checkov ansible-lint helm-docs kubeval "
    "kubeconform conftest opa hcl2json cookiecutter copier cruft sqlfluff alembic django-admin "
    "manage.py great_expectations pyinstaller nuitka cython maturin shiv pex bats shellspec "
    "pdftotext pdfinfo pdftk qpdf gs convert magick optipng jpegoptim ffmpeg sox inkscape "
    "rsvg-convert graphviz plantuml mmdc bump2version bumpver towncrier git-cliff jupyter nbconvert "
    "papermill nbstripout strip ranlib objcopy patchelf install_name_tool lipo ctags cscope etags "
    "gettext msgfmt xgettext msgmerge pybabel solc forge hardhat truffle anchor slither jest-cli "
    "markdownlint markdownlint-cli2 cspell publint attw size-limit ts-jest react-scripts craco vue-tsc "
    "tsd api-extractor tsgo rspack rsbuild"
)


def _of_the_folder(run: Run, path: str) -> None:
    """What decides what is built must be the project's own."""
    if not all(zone in (Zone.INSIDE, Zone.WORKSPACE, Zone.SINK) for _, zone in run._zones(path)):
        run.ask(Class.CODE, f"runs what {shown(path)} says, outside of the folder")


_DECIDES = names("-f -C -P -c --file --config --directory --project-dir --build-file --rootdir -S --manifest-path")


def _tool(run: Run) -> None:
    run.note(Class.PROJECT)
    files_given(run)
    if run.name in _MEDIA:
        _media(run)
    if _FETCHES & set(run.args[:3]):
        run.note(Class.FETCH)
    if run.name in _COMPILERS:
        _compiled(run)


_OUTPUTS = names("-o --output --outfile --out --out-dir --outDir --output-dir --report-file --output-file -outfile")
_OUTPUT_IS = beginnings(
    "--output= --outfile= --out= --out-dir= --outDir= --output-dir= --output-file= --junitxml= --basetemp= --rootdir="
)


def files_given(run: Run) -> None:
    """What a tool writes to, and whose settings it goes by."""
    for word, after in pairwise([*run.args, ""]):
        if word in _OUTPUTS and after:
            run.write(after)
        elif word.startswith(_OUTPUT_IS):
            run.write(word.partition("=")[2])
        elif word in _DECIDES and after[:1] in ("/", "~") and run.name not in _COMPILERS:
            _of_the_folder(run, after)


_MEDIA = names("ffmpeg sox convert magick gs")


def _media(run: Run) -> None:
    if run.args and run.args[-1][:1] != "-":
        run.write(run.args[-1])
    if any(re.match(r"(?:msl|ephemeral|https?|ftp|rtmp|tcp|udp|label:@|text:|\|)", a) for a in run.args):
        run.ask(Class.SEND, f"lets {run.name} use the network or more")


_FETCHES = names(
    "restore deps.get deps.update pub install update fetch download dependency:resolve dependency:go-offline deps sync"
)
_COMPILERS = names("gcc g++ cc c++ clang clang++ rustc gfortran nvcc ld nasm dmd ghc nim zig")


def _compiled(run: Run) -> None:
    """What is built of the project's sources is the project's; what is built of text in this command is not."""
    if any(a.startswith(("-fplugin", "-wrapper", "-B", "@")) for a in run.args):
        run.ask(Class.CODE, f"makes {run.name} run another program")
    places, scene = run.scene.places, run.scene
    paths = {os.path.normpath(p) for w in run.args if w[:1] != "-" for p in places.absolute(w, run.folders)}
    outputs = [after for word, after in pairwise([*run.args, ""]) if word == "-o"] or ["a.out"]
    made = {os.path.normpath(p) for w in outputs for p in places.absolute(w, run.folders)}
    if any(scene.was_written(path) for path in paths - made):
        scene.written |= made
    else:
        scene.written -= made


def _make(run: Run) -> None:
    options = run.options(
        {"-C", "-f", "-I", "-j", "-l", "-o", "-W", "--directory", "--file", "--makefile", "--eval", "-E"}
    )
    for code in options.values("--eval", "-E"):
        for inner in re.findall(r"\$\(shell ([^)]*)\)", code):
            run.code(inner)
        run.ask(Class.CODE, "gives make rules on the command line")
    for word in options.rest:
        name, eq, value = word.partition("=")
        if eq and name.rstrip(":?+!") in names("SHELL .SHELLFLAGS MAKE MAKEFLAGS MAKEFILES CC CXX LD AR RM INSTALL"):
            if not re.fullmatch(
                r"/bin/(?:ba)?sh|(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(?:-\d+)?|ccache (?:gcc|clang|g\+\+"
                r"|clang\+\+)",
                value,
            ):
                run.ask(Class.CODE, f"decides what make runs as {name}")
        elif eq and re.search(r"\$\(|`|[;|&]", value):
            run.ask(Class.CODE, f"gives make {name} with commands inside")
        elif any(c in word for c in UNKNOWN):
            run.ask(Class.UNCLEAR, "builds a target that is only known when it runs") if word[:1] in UNKNOWN else None
        elif not options.has("-n", "--dry-run", "--just-print", "-q") and word in names(
            "install uninstall deploy publish release push upload destroy"
        ):
            run.ask(Class.INSTALL, f"runs make {word}, which reaches beyond the folder")
    for folder in options.values("-C", "--directory"):
        _of_the_folder(run, folder)
    for file in options.values("-f", "--file", "--makefile"):
        (run.ask(Class.CODE, "runs rules it is given as input") if file == "-" else run.script(file))
    run.note(Class.PROJECT)


def _just(run: Run) -> None:
    if any(a.startswith(("--shell", "--shell-arg", "-c", "--command", "--evaluate", "--set")) for a in run.args):
        run.ask(Class.CODE, f"decides what {run.name} runs")
    run.unknown(run.args[:1])
    run.note(Class.PROJECT)


def _cargo(run: Run) -> None:
    words = [a for a in run.args if not a.startswith("+")]
    configured = [w for w in words if w.startswith(("--config", "-Z"))]
    first = next((w for w in words if w[:1] != "-"), "")
    for option, after in pairwise([*words, ""]):
        name, eq, value = option.partition("=")
        if name in ("--manifest-path", "-C") or (name == "--config" and "/" in (value or after)):
            _of_the_folder(run, value if eq else after)
    if configured and any("=" in w and not w.startswith("-Z") for w in words if "config" in w or "." in w):
        run.ask(Class.CODE, "gives cargo settings that decide what runs")
    if {"publish", "login", "logout", "owner", "yank"} & {first, *(words[1:3] if words[:1] != [first] else ())}:
        run.ask(Class.SEND, f"changes something at the registry with cargo {first}")
    elif first in ("install", "uninstall") and not any(a.startswith("--path") for a in words):
        run.ask(Class.INSTALL, "installs a program with cargo")
    run.unknown([first])
    if first in ("", "tree", "metadata", "version", "help", "locate-project", "pkgid"):
        run.note(Class.READ)
    elif first in ("fetch", "update", "add", "search", "info", "install", "generate-lockfile", "vendor"):
        run.note(Class.FETCH)
        run.note(Class.PROJECT)
    elif first == "fmt":
        run.note(Class.WRITE)
    else:
        run.note(Class.PROJECT)


def _go(run: Run) -> None:
    first = next((a for a in run.args if a[:1] != "-"), "")
    rest = [a for a in run.args if a != first]
    if any(a.startswith(("-exec", "-toolexec", "--exec", "--toolexec", "-vettool")) for a in run.args):
        run.ask(Class.CODE, "makes go run another program")
    if first == "env" and "-w" in rest:
        run.ask(Class.PERSISTENCE, "changes go's settings for good")
    far = any("@" in a or re.match(r"(?:[\w-]+\.)+[a-z]{2,}/", a) for a in rest)
    if first in ("install", "run") and far:
        run.ask(Class.INSTALL, f"fetches and runs code with go {first}")
    if first == "run":
        for word in rest:
            if word.endswith(".go"):
                run.script(word)
    run.unknown([first])
    if first in ("version", "env", "list", "doc", "help", ""):
        run.note(Class.READ)
    elif first in ("mod", "get", "install", "work"):
        run.note(Class.FETCH)
        run.note(Class.PROJECT if first == "install" else Class.WRITE)
    else:
        run.note(Class.PROJECT)


def _rustup(run: Run) -> None:
    if (run.args[:1] and run.args[0] in ("show", "check", "which", "doc", "--version", "help")) or run.args[1:2] == [
        "list"
    ]:
        run.note(Class.READ)
    elif run.args[:1] == ["run"]:
        run.inner(run.args[2:])
    else:
        run.ask(Class.INSTALL, "changes the installed toolchains")


PROGRAMS: dict[str, Program] = dict.fromkeys(_TOOLS, _tool)
PROGRAMS |= dict.fromkeys(("make", "gmake", "bmake", "remake"), _make)
PROGRAMS |= dict.fromkeys(("just", "task", "mage", "invoke", "inv", "doit", "pants", "earthly", "dagger"), _just)
PROGRAMS |= {"cargo": _cargo, "go": _go, "rustup": _rustup}

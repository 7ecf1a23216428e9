"""Tools of the trade, and programs whose name or first word says that they are one: they work on the folder."""

import re

from hermes_tool_guard.judgement import DERIVED, OPAQUE, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.programs.building import files_given
from hermes_tool_guard.run import Program, Run, names
from hermes_tool_guard.scene import shown

__all__ = ["PROGRAMS", "like_a_tool"]

# Compilers, linters, formatters, converters, profilers, generators of documents: none of them is for anything else.
_TOOLS = names(
    "accelerate dot agda appstreamcli autoflake axe bashate bear biome browserify bundler-audit bundlesize "
    "checkbashisms "
    "cargo-audit cargo-deny cargo-expand cargo-outdated cargo-udeps cargo-watch cross circo fdp sfdp neato gvpr twopi "
    "patchwork clippy clj-kondo cljfmt cljstyle composite combine mogrify montage gm coqc csc csvjson csvkit in2csv "
    "csso "
    "cwebp dwebp cythonize d2 debuild deptrac desktop-file-validate detekt dprint ktlint docformatter docsify "
    "documentation dtslint dub dvipdf dvips ecl efmt elixirc elm elm-format elm-review elm-test em++ emcc emcmake "
    "emmake erb_lint erlc erlfmt evans fasterer flit flog flay fourmolu fpm fsc genhtml gforth ghdl gifsicle "
    "glib-compile-schemas "
    "gleam google-java-format gprof2dot graph-easy graphql-codegen groff nroff troff haml-lint html-minifier htmlhint "
    "infection interrogate intltool-update idf.py idris isabelle istanbul iverilog vvp jar javadoc jekyll jlink "
    "jpackage "
    "kernprof kotlin ktfmt lake lean lessc license-checker lintian line_profiler luac luacheck luacov makepkg man2html "
    "markdown maxima mccabe mdbook mdl mdformat memray minizinc mkdirp mono mutool namcap nbqa newman nimble npm-check "
    "npm-run-all npm-check-updates ncu nuget ocrmypdf odin onefetch openapi-generator openapi-generator-cli openscad "
    "ormolu pa11y pdfimages pdfseparate pdfunite pdoc pdoc3 perlcritic perltidy pg_format pgformatter phpdoc phpmd "
    "phpcpd pio platformio pip-licenses pipdeptree pngquant potrace prove ps2pdf psc spago purs pycodestyle pydocstyle "
    "pyflakes pyupgrade py-spy pytest-watch ptw purgecss qrencode raco racket-fmt radon redocly relay-compiler "
    "rpmbuild "
    "rpmlint rufo safety sassc scalafix scalafmt scalene semgrep shards slim-lint snakeviz source-map-explorer "
    "spectral "
    "sphinx-apidoc sphinx-autobuild sphinx-quickstart spotless sql-formatter squawk standard standard-version "
    "stylish-haskell stylus svelte svgo swagger-cli swiftc swiftformat swipl tesseract terser texi2html textlint tidy "
    "tlc ts-prune tslint uglifyjs unimported verilator virtualenv vlang voila vulture wasm-bindgen wasm-opt wasm2wat "
    "wasmtime wasmer wat2wasm webpack-bundle-analyzer webpack-cli xenon xo xsltproc yosys z3 cvc5 zola crystal hx-fmt "
    "djlint curlylint refurb pyanalyze pytype pyre semgrep-core pylama prospector eradicate unify autopep695 sourcery "
    "add-trailing-comma reorder-python-imports tach import-linter lint-imports deptry creosote fawltydeps pyroma "
    "check-manifest check-wheel-contents auditwheel delocate abi3audit cibuildwheel scriv reno commitizen cz gitlint "
    "licensecheck reuse addlicense ktor quicktype json2ts gojq oapi-codegen sqlc mockgen wire stringer easyjson "
    "gofumpt "
    "revive errcheck ineffassign gocyclo gci golines nilaway air benchstat pprof gotests tinygo "
    "cbindgen bindgen cargo-llvm-cov cargo-tarpaulin grcov mdformat typst-fmt tectonic latexindent chktex lacheck "
    "tex luatex pdftex xetex bibexport pdfcrop epstopdf pstoedit svg2png cairosvg wkhtmltopdf weasyprint "
    "ebook-convert epubcheck asciidoctor-pdf rst2pdf rst2man mandoc scdoc ronn help2man gtkdoc-scan valadoc vala valac "
    "blueprint-compiler xgettext msginit msgcat msgattrib pot2po lrelease lupdate rcc moc uic qmake qmake6 "
    "windres dlltool ranlib lipo otool dsymutil install_name_tool nm-new c++filt cpp gcc-ar gcov-tool llvm-cov "
    "llvm-profdata llvm-objdump llvm-nm llvm-ar opt llc lli mlir-opt ispc glslc glslangValidator spirv-val dxc slangc "
    "ponyc chpl koka unison ucm roc grain gleam mint haxe anchor-cli snforge scarb starkli vyper "
    "cairo-compile move noir nargo circom snarkjs foundry cast-fmt forge-fmt slither-check echidna "
    "mythril aderyn solhint hardhat-test truffle-test playwright-test ava-cli uvu tape tapzero lab jasmine qunit "
    "testcafe wdio nightwatch codecept loki backstop percy-cli stryker vitest-cli bats-core shunit2 roundup assert.sh "
    "streamlit gradio panel gitleaks trufflehog detect-secrets trivy grype syft osv-scanner kics terrascan kube-score "
    "kubesec pluto dockle doxybook2 mkdocs-material exercism conventional-changelog auto-changelog git-chglog "
)
_READ_OUT = names("-h --help --version -V version help")
_OUTWARD = names(
    "publish push upload deploy release login logout register submit send share setApiKey add-source mirror"
)
_CODE = re.compile(
    r"-(?:e|c|x)$|--?(?:eval|exec|command|cmd|execute|run|script|shell|require|load|plugin-path|init-script)(?:=|$)"
)
_ADDRESS = re.compile(r"(?i)[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:")
_LOCAL = re.compile(r"(?i)https?://(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?:[:/]|$)")
_ODD_NAME = re.compile(
    r"(?:speed|disk|mem|net|pen|stress|fs|hd|boot|usb|wifi|hw|bios|smart|ssh|ssl|vpn|dns|port|priv|sys|kernel|root)"
    r"[-_]?(?:tests?|check(?:er)?|bench(?:mark)?|stats?|scan|gen|build)"
)
_NAME = re.compile(
    r"(?:[\w.+]+[-_.])*(?:lint(?:er|ing)?|fmt|format(?:ter)?|check(?:er|s)?|tests?|tester|specs?|typecheck|codegen|bench(?:mark)?"
    r"|docs?|gen|compiler?|prettier|validator?|validate|cov(?:erage)?|minify|analyzer|profiler|bundler?|transpiler?)"
    r"|[a-z0-9]+(?:lint|fmt|doc|docs|cov|unit|format)|[a-z]{2,}test|test[-_]?\w*"
)
_VERBS = names(
    "build test tests check lint fmt format validate verify compile typecheck type-check analyze analyse codegen docs "
    "doc bench coverage spec version help syntax-check dry-run"
)
_CROSS = re.compile(
    r"(?:[a-z0-9_]+-){1,4}((?:gcc|g\+\+|cc|c\+\+|cpp|ld|as|ar|nm|objdump|objcopy|ranlib|readelf|size|strip|strings|addr2line"
    r"|c\+\+filt|gfortran|clang|clang\+\+|gcov|gprof|pkg-config))(?:-[\d.]+)?"
)
_FAR = names("packer eas expo circleci travis serverless sls amplify sam cdk cdktf chalice nomad waypoint act dagger")


def _stays(run: Run) -> bool:
    """Whether all that the arguments name is in the folder; asks if not."""
    for word in run.args:
        if OPAQUE in word:
            run.ask(Class.UNCLEAR, f"gives {run.name} arguments that are only known when it runs")
            return False
        for part in {word, word.partition("=")[2]} - {""}:
            if _ADDRESS.search(part) and not _LOCAL.match(part):
                run.ask(Class.SEND, f"lets {run.name} use {shown(part)}")
                return False
            if part[:1] in ("/", "~") or ".." in part:
                zones = [zone for _, zone in run._zones(part)]
                if not all(z in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMPORARY, Zone.SINK) for z in zones):
                    run.ask(
                        Class.WRITE_OUTSIDE, f"lets {run.name} work on {shown(part)}, which is outside of the folder"
                    )
                    return False
    return True


def _tool(run: Run) -> None:
    files_given(run)
    first = next((a for a in run.args if a[:1] != "-"), "")
    if first in _OUTWARD:
        run.ask(Class.SEND, f"may change something elsewhere with {run.name} {first}")
    elif (run.args and run.args[0] in _READ_OUT) or _stays(run):
        run.note(Class.PROJECT)


def like_a_tool(run: Run) -> bool:
    """Judge a program that nobody knows; False when nothing says that it is a tool for the project's code."""
    if cross := _CROSS.fullmatch(run.name):
        from hermes_tool_guard.programs import PROGRAMS

        if judge := PROGRAMS.get(cross[1]):
            run.name = cross[1]
            judge(run)
            return True
    first = next((a for a in run.args if a[:1] != "-"), "")
    by_name = _NAME.fullmatch(run.name) and not _ODD_NAME.fullmatch(run.name)
    by_verb = first in _VERBS and run.args[:1] == [first]
    if run.name in _FAR or not re.fullmatch(r"[a-z][\w.+-]*", run.name) or not (by_name or by_verb):
        return False
    if any(_CODE.match(a) for a in run.args) or any(DERIVED in a for a in run.args):
        return False
    files_given(run)
    if _stays(run):
        run.note(Class.PROJECT)
    return True


PROGRAMS: dict[str, Program] = dict.fromkeys(_TOOLS, _tool)

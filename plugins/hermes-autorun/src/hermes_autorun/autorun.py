"""Files that run by themselves: written once, something executes or obeys them later without being told to.

The difference that counts is who decides. ``make``, ``pytest`` and ``npm install`` are commands that somebody gives,
and the policy sees them: ``Makefile``, ``conftest.py`` and other source code are therefore not in here. A new shell, a
login, a timer, a push, ``git status`` or opening an editor is nobody's decision to run what was written.
"""

import re

__all__ = ["NAMES", "TREES", "runs_by_itself"]

_NAMES = {
    "a shell reads it when it starts": ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .login "
        ".logout .cshrc .tcshrc .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .inputrc .envrc .direnvrc "
        ".pam_environment mise.toml .mise.toml mise.local.toml .mise.local.toml",
    "a program obeys it when it starts": ".vimrc .gvimrc .exrc .nvimrc .emacs .tmux.conf .screenrc .gdbinit .lldbinit "
        ".psqlrc .sqliterc .irbrc .pryrc .pythonrc .pdbrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .bunfig.toml "
        ".curlrc .wgetrc .mailcap .rprofile .xinitrc .xprofile .xsession .xsessionrc pip.conf .condarc .mcp.json "
        ".dir-locals.el .dir-locals-2.el .nvim.lua .renviron .ghci .ocamlinit .bazelrc .bazeliskrc bunfig.toml",
    "an editor runs what it names": ".devcontainer.json .gitpod.yml",
    "git obeys it": ".gitconfig .husky .pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.yml lefthook.yaml "
        ".lefthook.yml .lefthook.yaml lefthook-local.yml .overcommit.yml",
    "Python runs it in every process": "sitecustomize.py usercustomize.py",
    "a build server runs it": ".gitlab-ci.yml .travis.yml jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml "
        ".drone.yml .drone.star .woodpecker.yml .woodpecker.yaml appveyor.yml .appveyor.yml cloudbuild.yaml "
        "cloudbuild.yml .cirrus.yml .build.yml buildspec.yml codemagic.yaml",
    "an agent obeys it": "agents.md agent.md hermes.md .hermes.md claude.md claude.local.md soul.md gemini.md qwen.md "
        "crush.md warp.md .cursorrules .windsurfrules .clinerules .roorules .goosehints copilot-instructions.md "
        ".aider.conf.yml agents.override.md agents.local.md replit.md .rules .roomodes .augment-guidelines "
        "opencode.json opencode.jsonc",
    "the system runs what it names": "crontab anacrontab rc.local ld.so.preload sudoers authorized_keys",
}  # fmt: skip
# All of these, for those who look through many folders: what is spelled otherwise only ``runs_by_itself`` knows.
NAMES = frozenset(name for names in _NAMES.values() for name in names.split())
# Folders of a project, as parts of a path, and what is true of everything in them.
_OF_PROJECTS = {
    "git runs it": ".githooks .husky",
    "a build server runs it": ".github/workflows .github/actions .circleci .gitea/workflows .forgejo/workflows "
        ".buildkite .teamcity .semaphore .builds .woodpecker .tekton",
    "an editor runs what it names": ".vscode .idea .zed .devcontainer .fleet",
    "an agent obeys it": ".cursor .claude .agents .gemini .codex .windsurf .clinerules .roo .kiro .qwen .opencode "
        ".crush .continue .amazonq .junie .github/instructions .github/prompts .github/chatmodes .github/agents "
        ".github/copilot-instructions.md .agent .aiassistant .augment .factory .kilocode .openhands .trae",
    "a program obeys it when it starts": ".cargo/config .cargo/config.toml",
}  # fmt: skip
TREES = tuple(folder for folders in _OF_PROJECTS.values() for folder in folders.split())
# The same of other folders: git's own, a home's, and the system's.
_FOLDERS = {
    "git runs it": ".git/hooks",
    "git obeys it": ".git/info .config/git",
    "Mercurial obeys it": ".hg/hgrc",
    "an editor runs what it names": ".config/nvim .vim .emacs.d .config/emacs",
    "ssh obeys it": ".ssh",
    "a login runs it": ".config/autostart .config/environment.d .config/plasma-workspace etc/profile.d "
        "etc/xdg/autostart library/launchagents library/launchdaemons library/startupitems",
    "a shell reads it when it starts": ".config/fish .oh-my-zsh .zsh .bashrc.d .config/zsh .config/bash",
    "a timer runs it": "etc/cron.d etc/cron.hourly etc/cron.daily etc/cron.weekly etc/cron.monthly var/spool/cron "
        "var/spool/at",
    "the system runs it": "systemd/user systemd/system etc/init.d etc/rc.d etc/udev etc/sudoers.d etc/pam.d "
        "etc/ld.so.conf.d etc/apt/apt.conf.d etc/networkmanager/dispatcher.d .config/systemd .local/share/systemd",
    "a program obeys it when it starts": ".config/pip .config/npm .gnupg .docker .kube .config/direnv .gradle/init.d",
}  # fmt: skip


def runs_by_itself(path: str) -> str:
    """Why what is written to a path runs without a further decision, as a sentence; else an empty string.

    Only the path is looked at, in any case and spelling that a file system may take for the same. Ask with the real
    path (``hermes_paths.places.check_path``): a link may lead there.
    """
    import unicodedata

    loose = unicodedata.normalize("NFKC", path).casefold().replace("\\", "/")
    parts = [part.partition(":")[0].rstrip(" .") for part in loose.split("/") if part not in ("", ".")]
    if not parts:
        return ""
    name, whole = parts[-1], f"/{'/'.join(parts)}/"
    for reason, names in _NAMES.items():
        if name in names.split():
            return reason
    for reason, folders in (*_OF_PROJECTS.items(), *_FOLDERS.items()):
        if any(f"/{folder}/" in whole for folder in folders.split()):
            return reason
    if re.search(r"/(\.git|[^/]+\.git|\.git/(modules|worktrees)/.+)/(config|config\.worktree|hooks/.*)/$", whole):
        return "git obeys it"
    if name.endswith((".code-workspace", ".sublime-project")):
        return "an editor runs what it names"
    return "Python runs it in every process" if name.endswith(".pth") else ""

"""What runs by itself when it is written, and what a person or a command decides to run."""

import pytest

from hermes_autorun.autorun import runs_by_itself

YES = """
~/.bashrc ~/.zshrc ~/.profile ~/.bash_profile ~/.zshenv ~/.inputrc project/.envrc ~/.config/fish/config.fish
~/.config/fish/conf.d/x.fish ~/.vimrc ~/.config/nvim/init.lua ~/.vim/plugin/x.vim ~/.tmux.conf ~/.gdbinit ~/.npmrc
project/.npmrc project/.yarnrc.yml ~/.config/pip/pip.conf ~/.gitconfig ~/.config/git/config repo/.git/config
repo/.git/hooks/pre-commit repo/.git/hooks/sub/x repo/.git/info/attributes repo/.git/modules/lib/config
repo/.git/modules/lib/hooks/post-checkout bare.git/config bare.git/hooks/update repo/.git/worktrees/w/config.worktree
repo/.githooks/pre-push repo/.husky/pre-commit repo/.pre-commit-config.yaml repo/.github/workflows/ci.yml
repo/.github/actions/x/action.yml repo/.gitlab-ci.yml repo/.circleci/config.yml repo/Jenkinsfile
repo/azure-pipelines.yml repo/.vscode/tasks.json repo/.vscode/settings.json repo/.idea/workspace.xml
repo/.devcontainer/devcontainer.json /etc/crontab /etc/cron.d/x /etc/cron.daily/x /var/spool/cron/crontabs/me
~/.config/systemd/user/x.service /etc/systemd/system/x.timer /usr/lib/systemd/system/x.service
~/.config/autostart/x.desktop ~/Library/LaunchAgents/x.plist /etc/profile.d/x.sh /etc/ld.so.preload /etc/rc.local
/etc/sudoers /etc/sudoers.d/x /etc/udev/rules.d/x.rules /etc/pam.d/sshd ~/.ssh/authorized_keys ~/.ssh/config
~/.ssh/rc ~/.xinitrc ~/.xprofile lib/site-packages/x.pth sitecustomize.py lib/usercustomize.py repo/AGENTS.md
repo/sub/agents.md repo/.hermes.md repo/.cursor/rules/x.mdc repo/.mcp.json ~/.gnupg/gpg.conf ~/.kube/config
~/.gradle/init.d/x.gradle ~/.BASHRC repo/.Git/Hooks/pre-commit repo/.git/hooks/pre-commit. repo/.vscode./tasks.json
repo/GEMINI.md repo/CLAUDE.local.md repo/.windsurfrules repo/.github/copilot-instructions.md repo/.codex/config.toml
repo/.cursor/mcp.json repo/.gemini/settings.json repo/.github/instructions/x.instructions.md repo/.kiro/steering/x.md
repo/AGENTS.override.md repo/opencode.json repo/.dir-locals.el repo/mise.toml repo/.mise.local.toml repo/.bazelrc
repo/.cargo/config.toml repo/sub/.cargo/config repo/.nvim.lua repo/bunfig.toml repo/.devcontainer.json
repo/lefthook.yaml repo/app.code-workspace
repo/.hg/hgrc repo/.buildkite/pipeline.yml repo/.trae/rules/x.md repo/.cirrus.yml repo/.Renviron
repo/.git\\hooks\\pre-commit repo/./.git//hooks/x repo/\uff0egit/hooks/x ~/.bashrc::$DATA
""".split()  # noqa: SIM905
NO = """
README.md src/main.py Makefile package.json conftest.py tests/test_a.py setup.py pyproject.toml Dockerfile
docker-compose.yml tox.ini noxfile.py CMakeLists.txt build.gradle .gitignore .gitattributes .editorconfig .env
config repo/config hooks/pre-commit src/hooks/use.ts docs/workflows/ci.yml github/workflows/x.yml bashrc
templates/bashrc.j2 my.bashrc.txt profile notes/crontab.md ssh/config vscode/settings.json deploy/x.service
app/units/x.timer idea.txt git/hooks/x .gitkeep .github/ISSUE_TEMPLATE.md .github/dependabot.yml .gitmodules x.pth.txt
pip.conf.md cargo/config.toml .cargo/bin/x .cargo/registry/x docs/mise.md bazelrc code-workspace .hg/store/00 rules
""".split()  # noqa: SIM905


@pytest.mark.parametrize("path", YES)
def test_it_runs_by_itself(path):
    assert runs_by_itself(path)


@pytest.mark.parametrize("path", NO)
def test_somebody_decides_to_run_it(path):
    assert not runs_by_itself(path)


@pytest.mark.parametrize("path", ["", "/", ".", "///"])
def test_no_file_is_nothing(path):
    assert not runs_by_itself(path)

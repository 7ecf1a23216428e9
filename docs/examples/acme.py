"""A product of your own: its plugins, defaults, locks and name."""

from hermes_core.embed import Allow, Distribution

acme = Distribution(
    name="acme",
    version="2.1",
    plugins=Allow(
        "hermes-provider-offline",
        "hermes-backend-local",
        "hermes-tool-files",
        "hermes-tool-commands",
        "hermes-platform-cli",
        "acme-*",
    ),
    own=("hermes-*",),
    builtin=("acme-*",),
    defaults={"model.provider": "offline", "memory.provider": ""},
    locked={"policy.mode": "ask"},
    user_plugins=False,
)

main = acme.cli

if __name__ == "__main__":
    main()

"""What plugin authors test with: contract classes to inherit, scripted fakes, a witness, a count of steps.

Public for tests, not for plugins' own code. Names are imported when first used.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.testing.audit import Audit
    from hermes_core.testing.bench import Bench
    from hermes_core.testing.cassettes import Cassette, provider_of
    from hermes_core.testing.check import check_plugin
    from hermes_core.testing.contract_backend import BackendContract
    from hermes_core.testing.contract_base import PluginContract
    from hermes_core.testing.contract_console import ConsoleDriverContract
    from hermes_core.testing.contract_guard import GuardContract
    from hermes_core.testing.contract_mailbox import MailboxContract
    from hermes_core.testing.contract_masker import MaskerContract
    from hermes_core.testing.contract_memory import MemoryContract
    from hermes_core.testing.contract_platform import PlatformContract
    from hermes_core.testing.contract_provider import ProviderContract
    from hermes_core.testing.contract_purse import PurseContract
    from hermes_core.testing.contract_queue import TurnQueueContract
    from hermes_core.testing.contract_router import RouterContract
    from hermes_core.testing.contract_routes import RoutesContract, serve
    from hermes_core.testing.contract_secret_source import SecretSourceContract
    from hermes_core.testing.contract_setup import SetupContract
    from hermes_core.testing.contract_side import HostSideContract
    from hermes_core.testing.contract_source import ToolSourceContract
    from hermes_core.testing.contract_store import StoreDriverContract
    from hermes_core.testing.contract_tool import ToolContract
    from hermes_core.testing.fake_approvals import FakeApprovals
    from hermes_core.testing.fake_console import FakeConsole
    from hermes_core.testing.fake_context import FakeToolContext, plugin_context
    from hermes_core.testing.fake_conversation import FakeConversation
    from hermes_core.testing.fake_documents import FakeDocuments
    from hermes_core.testing.fake_sessions import FakeSessions
    from hermes_core.testing.fake_slash import FakeSlash
    from hermes_core.testing.fakes import FakeBackend, FakePeople, FakePlatform, FakeService, FakeWorkspace
    from hermes_core.testing.scaffold import new_plugin
    from hermes_core.testing.scripted import Call, Fail, Say, ScriptedProvider
    from hermes_core.testing.steps import Steps, TooManySteps
    from hermes_core.testing.transcripts import transcript
    from hermes_core.testing.witness import Witness, off_the_record

__all__ = [
    "Audit",
    "BackendContract",
    "Bench",
    "Call",
    "Cassette",
    "ConsoleDriverContract",
    "Fail",
    "FakeApprovals",
    "FakeBackend",
    "FakeConsole",
    "FakeConversation",
    "FakeDocuments",
    "FakePeople",
    "FakePlatform",
    "FakeService",
    "FakeSessions",
    "FakeSlash",
    "FakeToolContext",
    "FakeWorkspace",
    "GuardContract",
    "HostSideContract",
    "MailboxContract",
    "MaskerContract",
    "MemoryContract",
    "PlatformContract",
    "PluginContract",
    "ProviderContract",
    "PurseContract",
    "RouterContract",
    "RoutesContract",
    "Say",
    "ScriptedProvider",
    "SecretSourceContract",
    "SetupContract",
    "Steps",
    "StoreDriverContract",
    "TooManySteps",
    "ToolContract",
    "ToolSourceContract",
    "TurnQueueContract",
    "Witness",
    "check_plugin",
    "new_plugin",
    "off_the_record",
    "plugin_context",
    "provider_of",
    "serve",
    "transcript",
]

_HOMES = {
    "Audit": "audit",
    "BackendContract": "contract_backend",
    "Bench": "bench",
    "Call": "scripted",
    "Cassette": "cassettes",
    "ConsoleDriverContract": "contract_console",
    "Fail": "scripted",
    "FakeBackend": "fakes",
    "FakeConversation": "fake_conversation",
    "FakeConsole": "fake_console",
    "FakeApprovals": "fake_approvals",
    "FakeDocuments": "fake_documents",
    "FakePeople": "fakes",
    "FakePlatform": "fakes",
    "FakeService": "fakes",
    "FakeSessions": "fake_sessions",
    "FakeSlash": "fake_slash",
    "FakeToolContext": "fake_context",
    "FakeWorkspace": "fakes",
    "GuardContract": "contract_guard",
    "HostSideContract": "contract_side",
    "MailboxContract": "contract_mailbox",
    "MaskerContract": "contract_masker",
    "MemoryContract": "contract_memory",
    "PlatformContract": "contract_platform",
    "PluginContract": "contract_base",
    "ProviderContract": "contract_provider",
    "PurseContract": "contract_purse",
    "RouterContract": "contract_router",
    "RoutesContract": "contract_routes",
    "Say": "scripted",
    "SecretSourceContract": "contract_secret_source",
    "SetupContract": "contract_setup",
    "ScriptedProvider": "scripted",
    "Steps": "steps",
    "StoreDriverContract": "contract_store",
    "TooManySteps": "steps",
    "ToolContract": "contract_tool",
    "ToolSourceContract": "contract_source",
    "TurnQueueContract": "contract_queue",
    "Witness": "witness",
    "check_plugin": "check",
    "new_plugin": "scaffold",
    "off_the_record": "witness",
    "plugin_context": "fake_context",
    "provider_of": "cassettes",
    "serve": "contract_routes",
    "transcript": "transcripts",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

"""What may be asked of the API. Made of the API's OpenAPI document by generate.py."""

from collections.abc import AsyncIterator

from hermes_client.answered import (
    Capabilities,
    ChatCompletion,
    CommandAnswer,
    Counted,
    Deleted,
    Health,
    InputItems,
    MessageAnswer,
    Messages,
    Model,
    Models,
    Named,
    OpenApi,
    Response,
    Run,
    RunStarted,
    Session,
    SessionAnswer,
    Sessions,
    Settled,
    Toolsets,
)
from hermes_client.asked import (
    ApprovalRequest,
    ChatCompletionRequest,
    CommandRequest,
    CountRequest,
    ForkRequest,
    MessageRequest,
    ResponseRequest,
    RunRequest,
    SessionChatRequest,
    SessionPatch,
    SessionRequest,
)
from hermes_client.wire import Event, Wire, in_path

__all__ = ["Client"]


class Client(Wire):
    """The API of a Hermes, a method for each of its requests."""

    async def create_chat_completion(
        self,
        body: ChatCompletionRequest,
        *,
        session_id: str | None = None,
        idempotency_key: str | None = None,
        session_key: str | None = None,
    ) -> ChatCompletion:
        """Answer a conversation, whole or as it comes. Raises ApiError."""
        found: ChatCompletion = await self._ask(
            "POST",
            "/v1/chat/completions",
            body={**body, "stream": False},
            headers={
                "X-Hermes-Session-Id": session_id,
                "Idempotency-Key": idempotency_key,
                "X-Hermes-Session-Key": session_key,
            },
        )
        return found

    def create_chat_completion_stream(
        self,
        body: ChatCompletionRequest,
        *,
        session_id: str | None = None,
        idempotency_key: str | None = None,
        session_key: str | None = None,
    ) -> AsyncIterator[Event]:
        """Answer a conversation, whole or as it comes; yields events. Raises ApiError."""
        return self._follow(
            "POST",
            "/v1/chat/completions",
            body={**body, "stream": True},
            headers={
                "X-Hermes-Session-Id": session_id,
                "Idempotency-Key": idempotency_key,
                "X-Hermes-Session-Key": session_key,
            },
        )

    async def create_response(
        self,
        body: ResponseRequest,
        *,
        session_id: str | None = None,
        idempotency_key: str | None = None,
        session_key: str | None = None,
    ) -> Response:
        """Answer an input, whole or as it comes. Raises ApiError."""
        found: Response = await self._ask(
            "POST",
            "/v1/responses",
            body={**body, "stream": False},
            headers={
                "X-Hermes-Session-Id": session_id,
                "Idempotency-Key": idempotency_key,
                "X-Hermes-Session-Key": session_key,
            },
        )
        return found

    def create_response_stream(
        self,
        body: ResponseRequest,
        *,
        session_id: str | None = None,
        idempotency_key: str | None = None,
        session_key: str | None = None,
    ) -> AsyncIterator[Event]:
        """Answer an input, whole or as it comes; yields events. Raises ApiError."""
        return self._follow(
            "POST",
            "/v1/responses",
            body={**body, "stream": True},
            headers={
                "X-Hermes-Session-Id": session_id,
                "Idempotency-Key": idempotency_key,
                "X-Hermes-Session-Key": session_key,
            },
        )

    async def get_response(self, response: str, *, session_key: str | None = None) -> Response:
        """What came of one. Raises ApiError."""
        found: Response = await self._ask(
            "GET", f"/v1/responses/{in_path(response)}", headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def delete_response(self, response: str, *, session_key: str | None = None) -> Deleted:
        """Forget one; what was said stays in its session. Raises ApiError."""
        found: Deleted = await self._ask(
            "DELETE", f"/v1/responses/{in_path(response)}", headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def list_input_items(self, response: str, *, session_key: str | None = None) -> InputItems:
        """What one answers. Raises ApiError."""
        found: InputItems = await self._ask(
            "GET", f"/v1/responses/{in_path(response)}/input_items", headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def create_message(
        self,
        body: MessageRequest,
        *,
        session_id: str | None = None,
        idempotency_key: str | None = None,
        session_key: str | None = None,
    ) -> MessageAnswer:
        """Answer a conversation in Anthropic's protocol, whole or as it comes. Raises ApiError."""
        found: MessageAnswer = await self._ask(
            "POST",
            "/v1/messages",
            body={**body, "stream": False},
            headers={
                "X-Hermes-Session-Id": session_id,
                "Idempotency-Key": idempotency_key,
                "X-Hermes-Session-Key": session_key,
            },
        )
        return found

    def create_message_stream(
        self,
        body: MessageRequest,
        *,
        session_id: str | None = None,
        idempotency_key: str | None = None,
        session_key: str | None = None,
    ) -> AsyncIterator[Event]:
        """Answer a conversation in Anthropic's protocol, whole or as it comes; yields events. Raises ApiError."""
        return self._follow(
            "POST",
            "/v1/messages",
            body={**body, "stream": True},
            headers={
                "X-Hermes-Session-Id": session_id,
                "Idempotency-Key": idempotency_key,
                "X-Hermes-Session-Key": session_key,
            },
        )

    async def count_tokens(self, body: CountRequest, *, session_key: str | None = None) -> Counted:
        """About how many tokens a conversation has. What this Hermes adds to it is not counted. Raises ApiError."""
        found: Counted = await self._ask(
            "POST", "/v1/messages/count_tokens", body=body, headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def create_run(
        self,
        body: RunRequest,
        *,
        session_id: str | None = None,
        idempotency_key: str | None = None,
        session_key: str | None = None,
    ) -> RunStarted:
        """Begin one. When this answers, it is stored. Raises ApiError."""
        found: RunStarted = await self._ask(
            "POST",
            "/v1/runs",
            body=body,
            headers={
                "X-Hermes-Session-Id": session_id,
                "Idempotency-Key": idempotency_key,
                "X-Hermes-Session-Key": session_key,
            },
        )
        return found

    async def get_run(self, run: str, *, session_key: str | None = None) -> Run:
        """How far one is. Raises ApiError."""
        found: Run = await self._ask("GET", f"/v1/runs/{in_path(run)}", headers={"X-Hermes-Session-Key": session_key})
        return found

    def get_run_events(self, run: str, *, session_key: str | None = None) -> AsyncIterator[Event]:
        """What happens in one, from its start; yields events. Raises ApiError."""
        return self._follow("GET", f"/v1/runs/{in_path(run)}/events", headers={"X-Hermes-Session-Key": session_key})

    async def settle_run_approval(self, run: str, body: ApprovalRequest, *, session_key: str | None = None) -> Settled:
        """Answer what one asks. Raises ApiError."""
        found: Settled = await self._ask(
            "POST", f"/v1/runs/{in_path(run)}/approval", body=body, headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def stop_run(self, run: str, *, session_key: str | None = None) -> RunStarted:
        """Stop one; quiet when it is over. Raises ApiError."""
        found: RunStarted = await self._ask(
            "POST", f"/v1/runs/{in_path(run)}/stop", headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def list_sessions(self, *, limit: int | None = None, session_key: str | None = None) -> Sessions:
        """The sessions last used. Raises ApiError."""
        found: Sessions = await self._ask(
            "GET", "/api/sessions", query={"limit": limit}, headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def create_session(self, body: SessionRequest, *, session_key: str | None = None) -> Session:
        """A new one. Raises ApiError."""
        found: Session = await self._ask(
            "POST", "/api/sessions", body=body, headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def get_session(self, session: str, *, session_key: str | None = None) -> Session:
        """One. Raises ApiError."""
        found: Session = await self._ask(
            "GET", f"/api/sessions/{in_path(session)}", headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def rename_session(self, session: str, body: SessionPatch, *, session_key: str | None = None) -> Session:
        """Give one a title. Raises ApiError."""
        found: Session = await self._ask(
            "PATCH", f"/api/sessions/{in_path(session)}", body=body, headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def delete_session(self, session: str, *, session_key: str | None = None) -> Deleted:
        """Delete one with all it holds. Raises ApiError."""
        found: Deleted = await self._ask(
            "DELETE", f"/api/sessions/{in_path(session)}", headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def get_session_messages(
        self, session: str, *, limit: int | None = None, around: int | None = None, session_key: str | None = None
    ) -> Messages:
        """The last messages, or those around one. Raises ApiError."""
        found: Messages = await self._ask(
            "GET",
            f"/api/sessions/{in_path(session)}/messages",
            query={"limit": limit, "around": around},
            headers={"X-Hermes-Session-Key": session_key},
        )
        return found

    async def fork_session(self, session: str, body: ForkRequest, *, session_key: str | None = None) -> Session:
        """A new one that goes on from here. Raises ApiError."""
        found: Session = await self._ask(
            "POST", f"/api/sessions/{in_path(session)}/fork", body=body, headers={"X-Hermes-Session-Key": session_key}
        )
        return found

    async def chat_in_session(
        self,
        session: str,
        body: SessionChatRequest,
        *,
        idempotency_key: str | None = None,
        session_key: str | None = None,
    ) -> SessionAnswer:
        """Say something in one, and wait for the answer. Raises ApiError."""
        found: SessionAnswer = await self._ask(
            "POST",
            f"/api/sessions/{in_path(session)}/chat",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "X-Hermes-Session-Key": session_key},
        )
        return found

    def stream_in_session(
        self,
        session: str,
        body: SessionChatRequest,
        *,
        idempotency_key: str | None = None,
        session_key: str | None = None,
    ) -> AsyncIterator[Event]:
        """Say something in one, and watch the answer come; yields events. Raises ApiError."""
        return self._follow(
            "POST",
            f"/api/sessions/{in_path(session)}/chat/stream",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "X-Hermes-Session-Key": session_key},
        )

    async def run_command(
        self, session: str, body: CommandRequest, *, idempotency_key: str | None = None, session_key: str | None = None
    ) -> CommandAnswer:
        """Run a slash command in a session. Raises ApiError."""
        found: CommandAnswer = await self._ask(
            "POST",
            f"/api/sessions/{in_path(session)}/commands",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "X-Hermes-Session-Key": session_key},
        )
        return found

    async def list_models(self) -> Models:
        """The names clients may ask for. Raises ApiError."""
        found: Models = await self._ask("GET", "/v1/models")
        return found

    async def get_model(self, model: str) -> Model:
        """One of them. Raises ApiError."""
        found: Model = await self._ask("GET", f"/v1/models/{in_path(model)}")
        return found

    async def get_capabilities(self) -> Capabilities:
        """What it can do, and how much of it. Raises ApiError."""
        found: Capabilities = await self._ask("GET", "/v1/capabilities")
        return found

    async def list_skills(self) -> Named:
        """The skills that are there. Raises ApiError."""
        found: Named = await self._ask("GET", "/v1/skills")
        return found

    async def list_toolsets(self) -> Toolsets:
        """The tools that are switched on. Raises ApiError."""
        found: Toolsets = await self._ask("GET", "/v1/toolsets")
        return found

    async def get_health_details(self) -> Health:
        """Whether it can work, and what it does. Raises ApiError."""
        found: Health = await self._ask("GET", "/health/detailed")
        return found

    async def get_health(self) -> Health:
        """Whether it is up. Raises ApiError."""
        found: Health = await self._ask("GET", "/health")
        return found

    async def get_health_v1(self) -> Health:
        """Whether it is up. Raises ApiError."""
        found: Health = await self._ask("GET", "/v1/health")
        return found

    async def get_open_api(self) -> OpenApi:
        """Get the document of this API. Raises ApiError."""
        found: OpenApi = await self._ask("GET", "/openapi.json")
        return found

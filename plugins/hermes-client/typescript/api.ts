// What may be asked of the API, and what comes. Made of the API's OpenAPI document by generate.py.
import { Wire } from "./wire.js";
import type { StreamEvent } from "./wire.js";

export { ApiError } from "./wire.js";
export type { StreamEvent } from "./wire.js";

export interface ChatCompletionRequestMessagesSystemContent {
  type: "text";
  text: string;
}

export interface ChatCompletionRequestMessagesSystem {
  role: "system" | "developer";
  content: string | Array<ChatCompletionRequestMessagesSystemContent>;
}

export interface ChatCompletionRequestMessagesUserContentImageUrlImageUrl {
  url: string;
  detail?: string | null;
}

export interface ChatCompletionRequestMessagesUserContentImageUrl {
  type: "image_url";
  image_url: ChatCompletionRequestMessagesUserContentImageUrlImageUrl;
}

export interface ChatCompletionRequestMessagesUser {
  role: "user";
  content: string | Array<ChatCompletionRequestMessagesSystemContent | ChatCompletionRequestMessagesUserContentImageUrl>;
}

export interface ChatCompletionRequestMessagesAssistantToolCallsFunction {
  name: string;
  arguments: string;
}

export interface ChatCompletionRequestMessagesAssistantToolCalls {
  id: string;
  type: "function";
  function: ChatCompletionRequestMessagesAssistantToolCallsFunction;
}

export interface ChatCompletionRequestMessagesAssistant {
  role: "assistant";
  content?: string | Array<ChatCompletionRequestMessagesSystemContent> | null;
  tool_calls?: Array<ChatCompletionRequestMessagesAssistantToolCalls> | null;
}

export interface ChatCompletionRequestMessagesTool {
  role: "tool";
  tool_call_id: string;
  content: string | Array<ChatCompletionRequestMessagesSystemContent>;
}

export interface ChatCompletionRequestStreamOptions {
  include_usage?: boolean | null;
}

export interface ChatCompletionRequestToolsFunctionParameters {
  type?: "object";
}

export interface ChatCompletionRequestToolsFunction {
  name: string;
  description?: string | null;
  parameters?: ChatCompletionRequestToolsFunctionParameters | null;
}

export interface ChatCompletionRequestTools {
  type: "function";
  function: ChatCompletionRequestToolsFunction;
}

export interface ChatCompletionRequestToolChoice2Function {
  name?: string;
}

export interface ChatCompletionRequestToolChoice2AllowedToolsTools {
  name?: string;
  function?: ChatCompletionRequestToolChoice2Function;
}

export interface ChatCompletionRequestToolChoice2AllowedTools {
  tools?: Array<ChatCompletionRequestToolChoice2AllowedToolsTools>;
  mode?: string;
}

export interface ChatCompletionRequestToolChoice2 {
  type: string;
  name?: string;
  function?: ChatCompletionRequestToolChoice2Function;
  allowed_tools?: ChatCompletionRequestToolChoice2AllowedTools;
  tools?: Array<ChatCompletionRequestToolChoice2AllowedToolsTools>;
  mode?: string;
}

export interface ChatCompletionRequestResponseFormat {
  type: "text";
}

export interface ChatCompletionRequest {
  model: string;
  messages: Array<ChatCompletionRequestMessagesSystem | ChatCompletionRequestMessagesUser | ChatCompletionRequestMessagesAssistant | ChatCompletionRequestMessagesTool>;
  stream?: boolean | null;
  stream_options?: ChatCompletionRequestStreamOptions | null;
  n?: number | null;
  tools?: Array<ChatCompletionRequestTools> | null;
  tool_choice?: "none" | "auto" | "required" | ChatCompletionRequestToolChoice2 | null;
  parallel_tool_calls?: boolean | null;
  functions?: Array<unknown> | null;
  reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
  response_format?: ChatCompletionRequestResponseFormat | null;
  modalities?: Array<"text"> | null;
  logprobs?: false | null;
  metadata?: Record<string, string> | null;
}

export interface ResponseRequestInputUserContentInputText {
  type: "input_text" | "text";
  text: string;
}

export interface ResponseRequestInputUserContentInputImage {
  type: "input_image";
  image_url: string;
}

export interface ResponseRequestInputUser {
  type?: "message";
  role: "user" | "system" | "developer";
  content: string | Array<ResponseRequestInputUserContentInputText | ResponseRequestInputUserContentInputImage>;
}

export interface ResponseRequestInputAssistantContent {
  type: "output_text" | "text";
  text: string;
}

export interface ResponseRequestInputAssistant {
  type?: "message";
  role: "assistant";
  content: string | Array<ResponseRequestInputAssistantContent>;
}

export interface ResponseRequestInputFunctionCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
}

export interface ResponseRequestInputFunctionCallOutput {
  type: "function_call_output";
  call_id: string;
  output: string | Array<ResponseRequestInputUserContentInputText | ResponseRequestInputUserContentInputImage>;
}

export interface ResponseRequestInputReasoning {
  type: "reasoning";
}

export interface ResponseRequestConversation2 {
  id: string;
}

export interface ResponseRequestTools {
  type: "function";
  name: string;
  description?: string | null;
  parameters?: ChatCompletionRequestToolsFunctionParameters | null;
}

export interface ResponseRequestText {
  format?: ChatCompletionRequestResponseFormat | null;
}

export interface ResponseRequestReasoning {
  effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
  summary?: "auto" | "concise" | "detailed" | null;
}

export interface ResponseRequest {
  model: string;
  input: string | Array<ResponseRequestInputUser | ResponseRequestInputAssistant | ResponseRequestInputFunctionCall | ResponseRequestInputFunctionCallOutput | ResponseRequestInputReasoning>;
  instructions?: string | null;
  previous_response_id?: string | null;
  conversation?: string | ResponseRequestConversation2 | null;
  store?: boolean | null;
  stream?: boolean | null;
  background?: false | null;
  include?: Array<string> | null;
  tools?: Array<ResponseRequestTools> | null;
  tool_choice?: "none" | "auto" | "required" | ChatCompletionRequestToolChoice2 | null;
  parallel_tool_calls?: boolean | null;
  text?: ResponseRequestText | null;
  reasoning?: ResponseRequestReasoning | null;
  metadata?: Record<string, string> | null;
}

export interface MessageRequestMessagesContentImageSource {
  type: "base64";
  media_type: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  data: string;
}

export interface MessageRequestMessagesContentImage {
  type: "image";
  source: MessageRequestMessagesContentImageSource;
}

export interface MessageRequestMessagesContentToolUse {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
}

export interface MessageRequestMessagesContentToolResult {
  type: "tool_result";
  tool_use_id: string;
  content?: string | Array<ChatCompletionRequestMessagesSystemContent | MessageRequestMessagesContentImage> | null;
  is_error?: boolean | null;
}

export interface MessageRequestMessagesContentThinking {
  type: "thinking" | "redacted_thinking";
}

export interface MessageRequestMessages {
  role: "user" | "assistant";
  content: string | Array<ChatCompletionRequestMessagesSystemContent | MessageRequestMessagesContentImage | MessageRequestMessagesContentToolUse | MessageRequestMessagesContentToolResult | MessageRequestMessagesContentThinking>;
}

export interface MessageRequestTools {
  type?: "custom" | null;
  name: string;
  description?: string | null;
  input_schema: ChatCompletionRequestToolsFunctionParameters;
}

export interface MessageRequestToolChoice {
  type: "auto" | "any" | "tool" | "none";
  name?: string;
  disable_parallel_tool_use?: boolean;
}

export interface MessageRequestThinking {
  type: "enabled" | "adaptive" | "between_tools" | "disabled";
  budget_tokens?: number;
  display?: "summarized" | "omitted" | null;
}

export interface MessageRequestOutputConfig {
  effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
}

export interface MessageRequest {
  model: string;
  messages: Array<MessageRequestMessages>;
  system?: string | Array<ChatCompletionRequestMessagesSystemContent> | null;
  tools?: Array<MessageRequestTools> | null;
  tool_choice?: MessageRequestToolChoice | null;
  max_tokens: number;
  stream?: boolean | null;
  thinking?: MessageRequestThinking | null;
  output_config?: MessageRequestOutputConfig | null;
}

export interface CountRequest {
  model: string;
  messages: Array<MessageRequestMessages>;
  system?: string | Array<ChatCompletionRequestMessagesSystemContent> | null;
  tools?: Array<MessageRequestTools> | null;
  tool_choice?: MessageRequestToolChoice | null;
}

export interface RunRequest {
  input: string | Array<ResponseRequestInputUserContentInputText | ResponseRequestInputUserContentInputImage>;
  model?: string | null;
  instructions?: string | null;
  session_id?: string | null;
  previous_response_id?: string | null;
  conversation_history?: Array<ChatCompletionRequestMessagesUser | ChatCompletionRequestMessagesAssistant> | null;
  metadata?: Record<string, string> | null;
}

export interface ApprovalRequest {
  choice: "once" | "session" | "always" | "deny";
  approval_id?: string | null;
  reason?: string | null;
}

export interface SessionRequest {
  id?: string | null;
  title?: string | null;
  system?: string | null;
}

export interface SessionPatch {
  title: string;
}

export interface ForkRequest {
  title?: string | null;
}

export interface SessionChatRequest {
  input: string | Array<ResponseRequestInputUserContentInputText | ResponseRequestInputUserContentInputImage>;
  system?: string | null;
  model?: string | null;
}

export interface CommandRequest {
  command: string;
}

export interface ErrorError {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

export interface Error {
  error: ErrorError;
}

export interface ChatCompletionChoicesMessageToolCallsFunction {
  name: string;
  arguments: string;
}

export interface ChatCompletionChoicesMessageToolCalls {
  id: string;
  type: "function";
  function: ChatCompletionChoicesMessageToolCallsFunction;
}

export interface ChatCompletionChoicesMessage {
  role: "assistant";
  content: string | null;
  reasoning_content?: string;
  refusal?: string | null;
  tool_calls?: Array<ChatCompletionChoicesMessageToolCalls>;
}

export interface ChatCompletionChoices {
  index: number;
  message: ChatCompletionChoicesMessage;
  finish_reason: string;
}

export interface ChatCompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface ChatCompletion {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: Array<ChatCompletionChoices>;
  usage: ChatCompletionUsage;
}

export interface ResponseOutput {
  type: string;
  id: string;
}

export interface ResponseUsage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
}

export interface ResponseError {
  code: string;
  message: string;
}

export interface Response {
  id: string;
  object: "response";
  created_at: number;
  status: "in_progress" | "completed" | "failed" | "incomplete" | "cancelled";
  model: string;
  output: Array<ResponseOutput>;
  usage?: ResponseUsage | null;
  error?: ResponseError | null;
}

export interface InputItems {
  object: "list";
  data: Array<ResponseOutput>;
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

export interface MessageAnswerContent {
  type: "thinking" | "text" | "tool_use";
}

export interface MessageAnswerUsage {
  input_tokens: number;
  output_tokens: number;
}

export interface MessageAnswer {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: Array<MessageAnswerContent>;
  stop_reason: "end_turn" | "tool_use" | "max_tokens";
  usage: MessageAnswerUsage;
}

export interface MessageErrorError {
  type: string;
  message: string;
}

export interface MessageError {
  type: "error";
  error: MessageErrorError;
}

export interface Counted {
  input_tokens: number;
}

export interface Deleted {
  id: string;
  object: string;
  deleted: boolean;
}

export interface RunError {
  message: string;
  code: string;
}

export interface RunApprovals {
  id: string;
  subject: string;
  choices: Array<string>;
}

export interface Run {
  object: "hermes.run";
  run_id: string;
  status: "queued" | "running" | "waiting_for_approval" | "completed" | "failed" | "cancelled" | "interrupted";
  created_at: number;
  session_id: string | null;
  model?: string;
  output: string | null;
  usage: ResponseUsage | null;
  error: RunError | null;
  approvals?: Array<RunApprovals>;
}

export interface RunStarted {
  run_id: string;
  status: string;
  session_id?: string | null;
}

export interface Settled {
  run_id: string;
  approval_id: string;
  settled: boolean;
}

export interface Session {
  id: string;
  object: "hermes.session";
  title: string;
  origin: string;
  created_at: number;
  updated_at?: number;
  model: string;
  messages?: number;
  preview?: string;
  state?: string;
}

export interface Sessions {
  object: "list";
  data: Array<Session>;
}

export interface MessagesDataContent {
  type: string;
}

export interface MessagesData {
  id: number;
  role: string;
  content: Array<MessagesDataContent>;
}

export interface Messages {
  object: "list";
  data: Array<MessagesData>;
}

export interface SessionAnswer {
  session_id: string;
  message: ChatCompletionChoicesMessage;
  usage: ResponseUsage;
  note?: string;
}

export interface CommandAnswerChoices {
  label: string;
  command: string;
}

export interface CommandAnswer {
  object: "hermes.command";
  session_id: string;
  text: string;
  choices: Array<CommandAnswerChoices>;
  usage?: ResponseUsage;
}

export interface Model {
  id: string;
  object: "model";
  created: number;
  owned_by: string;
}

export interface Models {
  object: "list";
  data: Array<Model>;
}

export interface NamedData {
  name: string;
  description: string;
}

export interface Named {
  object: "list";
  data: Array<NamedData>;
}

export interface ToolsetsDataTools {
  name: string;
}

export interface ToolsetsData {
  name: string;
  tools: Array<ToolsetsDataTools>;
}

export interface Toolsets {
  object: "list";
  data: Array<ToolsetsData>;
}

export interface Capabilities {
  object: string;
  features: Record<string, unknown>;
  limits: Record<string, unknown>;
}

export interface Health {
  status: string;
}

export interface OpenApi {
  openapi: string;
  info: Record<string, unknown>;
  paths: Record<string, unknown>;
}

/** The API of a Hermes, a method for each of its requests. */
export class Client extends Wire {
  /** Answer a conversation, whole or as it comes. */
  createChatCompletion(body: ChatCompletionRequest, given: { sessionId?: string; idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): Promise<ChatCompletion> {
    return this.ask<ChatCompletion>("POST", `/v1/chat/completions`, { body: { ...body, stream: false }, headers: { "X-Hermes-Session-Id": given.sessionId, "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Answer a conversation, whole or as it comes. */
  createChatCompletionStream(body: ChatCompletionRequest, given: { sessionId?: string; idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): AsyncGenerator<StreamEvent, void, void> {
    return this.follow("POST", `/v1/chat/completions`, { body: { ...body, stream: true }, headers: { "X-Hermes-Session-Id": given.sessionId, "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Answer an input, whole or as it comes. */
  createResponse(body: ResponseRequest, given: { sessionId?: string; idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): Promise<Response> {
    return this.ask<Response>("POST", `/v1/responses`, { body: { ...body, stream: false }, headers: { "X-Hermes-Session-Id": given.sessionId, "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Answer an input, whole or as it comes. */
  createResponseStream(body: ResponseRequest, given: { sessionId?: string; idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): AsyncGenerator<StreamEvent, void, void> {
    return this.follow("POST", `/v1/responses`, { body: { ...body, stream: true }, headers: { "X-Hermes-Session-Id": given.sessionId, "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** What came of one. */
  getResponse(response: string, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Response> {
    return this.ask<Response>("GET", `/v1/responses/${encodeURIComponent(response)}`, { headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Forget one; what was said stays in its session. */
  deleteResponse(response: string, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Deleted> {
    return this.ask<Deleted>("DELETE", `/v1/responses/${encodeURIComponent(response)}`, { headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** What one answers. */
  listInputItems(response: string, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<InputItems> {
    return this.ask<InputItems>("GET", `/v1/responses/${encodeURIComponent(response)}/input_items`, { headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Answer a conversation in Anthropic's protocol, whole or as it comes. */
  createMessage(body: MessageRequest, given: { sessionId?: string; idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): Promise<MessageAnswer> {
    return this.ask<MessageAnswer>("POST", `/v1/messages`, { body: { ...body, stream: false }, headers: { "X-Hermes-Session-Id": given.sessionId, "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Answer a conversation in Anthropic's protocol, whole or as it comes. */
  createMessageStream(body: MessageRequest, given: { sessionId?: string; idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): AsyncGenerator<StreamEvent, void, void> {
    return this.follow("POST", `/v1/messages`, { body: { ...body, stream: true }, headers: { "X-Hermes-Session-Id": given.sessionId, "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** About how many tokens a conversation has. What this Hermes adds to it is not counted. */
  countTokens(body: CountRequest, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Counted> {
    return this.ask<Counted>("POST", `/v1/messages/count_tokens`, { body, headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Begin one. When this answers, it is stored. */
  createRun(body: RunRequest, given: { sessionId?: string; idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): Promise<RunStarted> {
    return this.ask<RunStarted>("POST", `/v1/runs`, { body, headers: { "X-Hermes-Session-Id": given.sessionId, "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** How far one is. */
  getRun(run: string, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Run> {
    return this.ask<Run>("GET", `/v1/runs/${encodeURIComponent(run)}`, { headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** What happens in one, from its start. */
  getRunEvents(run: string, given: { sessionKey?: string; signal?: AbortSignal } = {}): AsyncGenerator<StreamEvent, void, void> {
    return this.follow("GET", `/v1/runs/${encodeURIComponent(run)}/events`, { headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Answer what one asks. */
  settleRunApproval(run: string, body: ApprovalRequest, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Settled> {
    return this.ask<Settled>("POST", `/v1/runs/${encodeURIComponent(run)}/approval`, { body, headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Stop one; quiet when it is over. */
  stopRun(run: string, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<RunStarted> {
    return this.ask<RunStarted>("POST", `/v1/runs/${encodeURIComponent(run)}/stop`, { headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** The sessions last used. */
  listSessions(given: { limit?: number; sessionKey?: string; signal?: AbortSignal } = {}): Promise<Sessions> {
    return this.ask<Sessions>("GET", `/api/sessions`, { query: { limit: given.limit }, headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** A new one. */
  createSession(body: SessionRequest, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Session> {
    return this.ask<Session>("POST", `/api/sessions`, { body, headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** One. */
  getSession(session: string, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Session> {
    return this.ask<Session>("GET", `/api/sessions/${encodeURIComponent(session)}`, { headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Give one a title. */
  renameSession(session: string, body: SessionPatch, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Session> {
    return this.ask<Session>("PATCH", `/api/sessions/${encodeURIComponent(session)}`, { body, headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Delete one with all it holds. */
  deleteSession(session: string, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Deleted> {
    return this.ask<Deleted>("DELETE", `/api/sessions/${encodeURIComponent(session)}`, { headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** The last messages, or those around one. */
  getSessionMessages(session: string, given: { limit?: number; around?: number; sessionKey?: string; signal?: AbortSignal } = {}): Promise<Messages> {
    return this.ask<Messages>("GET", `/api/sessions/${encodeURIComponent(session)}/messages`, { query: { limit: given.limit, around: given.around }, headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** A new one that goes on from here. */
  forkSession(session: string, body: ForkRequest, given: { sessionKey?: string; signal?: AbortSignal } = {}): Promise<Session> {
    return this.ask<Session>("POST", `/api/sessions/${encodeURIComponent(session)}/fork`, { body, headers: { "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Say something in one, and wait for the answer. */
  chatInSession(session: string, body: SessionChatRequest, given: { idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): Promise<SessionAnswer> {
    return this.ask<SessionAnswer>("POST", `/api/sessions/${encodeURIComponent(session)}/chat`, { body, headers: { "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Say something in one, and watch the answer come. */
  streamInSession(session: string, body: SessionChatRequest, given: { idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): AsyncGenerator<StreamEvent, void, void> {
    return this.follow("POST", `/api/sessions/${encodeURIComponent(session)}/chat/stream`, { body, headers: { "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** Run a slash command in a session. */
  runCommand(session: string, body: CommandRequest, given: { idempotencyKey?: string; sessionKey?: string; signal?: AbortSignal } = {}): Promise<CommandAnswer> {
    return this.ask<CommandAnswer>("POST", `/api/sessions/${encodeURIComponent(session)}/commands`, { body, headers: { "Idempotency-Key": given.idempotencyKey, "X-Hermes-Session-Key": given.sessionKey }, signal: given.signal });
  }

  /** The names clients may ask for. */
  listModels(given: { signal?: AbortSignal } = {}): Promise<Models> {
    return this.ask<Models>("GET", `/v1/models`, { signal: given.signal });
  }

  /** One of them. */
  getModel(model: string, given: { signal?: AbortSignal } = {}): Promise<Model> {
    return this.ask<Model>("GET", `/v1/models/${encodeURIComponent(model)}`, { signal: given.signal });
  }

  /** What it can do, and how much of it. */
  getCapabilities(given: { signal?: AbortSignal } = {}): Promise<Capabilities> {
    return this.ask<Capabilities>("GET", `/v1/capabilities`, { signal: given.signal });
  }

  /** The skills that are there. */
  listSkills(given: { signal?: AbortSignal } = {}): Promise<Named> {
    return this.ask<Named>("GET", `/v1/skills`, { signal: given.signal });
  }

  /** The tools that are switched on. */
  listToolsets(given: { signal?: AbortSignal } = {}): Promise<Toolsets> {
    return this.ask<Toolsets>("GET", `/v1/toolsets`, { signal: given.signal });
  }

  /** Whether it can work, and what it does. */
  getHealthDetails(given: { signal?: AbortSignal } = {}): Promise<Health> {
    return this.ask<Health>("GET", `/health/detailed`, { signal: given.signal });
  }

  /** Whether it is up. */
  getHealth(given: { signal?: AbortSignal } = {}): Promise<Health> {
    return this.ask<Health>("GET", `/health`, { signal: given.signal });
  }

  /** Whether it is up. */
  getHealthV1(given: { signal?: AbortSignal } = {}): Promise<Health> {
    return this.ask<Health>("GET", `/v1/health`, { signal: given.signal });
  }

  /** Get the document of this API. */
  getOpenApi(given: { signal?: AbortSignal } = {}): Promise<OpenApi> {
    return this.ask<OpenApi>("GET", `/openapi.json`, { signal: given.signal });
  }
}

// How the client speaks: one request, one stream of events, and what went wrong. What it may ask is generated: api.ts.

/** What the server refused, or that it cannot be reached: `status` is that of HTTP, 0 where nothing came back. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number = 0,
    readonly code: string = "",
    readonly retryAfter: number | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** One event of a stream: its name, `message` where it has none, and its JSON; null is the end of the stream. */
export interface StreamEvent {
  name: string;
  data: unknown;
}

export interface Given {
  body?: unknown;
  query?: Record<string, number | undefined>;
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal | undefined;
}

/** A connection to the API of a Hermes. */
export class Wire {
  /** `url` is where the API is, as http://127.0.0.1:8642; `key` is that of a person. Nothing is sent yet. */
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {
    // else whoever builds the request says the key in its error
    if (!/^[\x20-\x7e]*$/.test(key)) {
      throw new ApiError("The key holds what no key does: a line end, or a letter beyond ASCII.");
    }
  }

  protected async ask<T>(method: string, path: string, given: Given = {}): Promise<T> {
    const response = await this.send(method, path, given);
    try {
      return (await response.json()) as T;
    } catch {
      throw new ApiError("The server sent something else than JSON.", response.status);
    }
  }

  protected async *follow(method: string, path: string, given: Given = {}): AsyncGenerator<StreamEvent, void, void> {
    const response = await this.send(method, path, given);
    if (response.body === null) return;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    let name = "message";
    let lines: string[] = [];
    try {
      for (;;) {
        const { done, value } = await reader.read();
        rest += done ? decoder.decode() + "\n" : decoder.decode(value, { stream: true });
        const whole = rest.split(/\r\n|\n/);
        rest = whole.pop() ?? "";
        for (const line of whole) {
          if (line.startsWith("event:")) name = line.slice(6).trim();
          else if (line.startsWith("data:")) lines.push(line.slice(5).replace(/^ /, ""));
          else if (line === "" && lines.length > 0) {
            yield event(name, lines.join("\n"));
            name = "message";
            lines = [];
          }
        }
        if (done) return;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }

  private async send(method: string, path: string, given: Given): Promise<Response> {
    const address = new URL(this.url.replace(/\/+$/, "") + path);
    for (const [name, value] of Object.entries(given.query ?? {})) {
      if (value !== undefined) address.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = { authorization: `Bearer ${this.key}` };
    for (const [name, value] of Object.entries(given.headers ?? {})) if (value !== undefined) headers[name] = value;
    const init: RequestInit = { method, headers, redirect: "error" };
    if (given.signal !== undefined) init.signal = given.signal;
    if (given.body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(given.body);
    }
    let response: Response;
    try {
      response = await fetch(address, init);
    } catch (error) {
      throw new ApiError(`The server cannot be reached: ${String(error)}`);
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }
}

function event(name: string, text: string): StreamEvent {
  if (text === "[DONE]") return { name, data: null };
  try {
    return { name, data: JSON.parse(text) };
  } catch {
    throw new ApiError("An event of the stream is no JSON.");
  }
}

async function refusal(response: Response): Promise<ApiError> {
  let message = `HTTP ${response.status}`;
  let code = "";
  try {
    const told = ((await response.json()) as { error: { message: string; code?: string; type?: string } }).error;
    message = told.message;
    code = told.code ?? told.type ?? "";
  } catch {
    // no JSON: the status has to do
  }
  const wait = Number(response.headers.get("retry-after") ?? NaN);
  return new ApiError(message, response.status, code, Number.isFinite(wait) ? wait : null);
}

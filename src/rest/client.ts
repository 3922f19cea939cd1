import { answered, kindOfStatus, messagesOf, plainMessage, retryAfterMs } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import { Fault, type FaultKind } from '#core/fault.ts';

export interface RestOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** `https://api.example.com/v2`; paths are appended. */
  readonly base: string;
  /** Who is asked, for messages: `DigitalOcean`. */
  readonly cloud: string;
  readonly withinMs?: number;
  /** Asked for each request: credentials are renewed. */
  headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** What the cloud's own words for an error mean, where they say more than the status. */
  explain?(status: number, body: unknown): Explained | undefined;
}

export interface Explained {
  readonly kind?: FaultKind | undefined;
  readonly message?: string | undefined;
  readonly remedy?: string | undefined;
}

export interface RestRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Over those that every request has. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a form, in place of `body`. */
  readonly form?: Readonly<Record<string, string>> | undefined;
  /** Sent as it stands, in place of both. */
  readonly bytes?: { readonly type: string; readonly content: Uint8Array<ArrayBuffer> } | undefined;
  /** The answer is wanted as the text that it is. */
  readonly isText?: true | undefined;
  /** A longer answer is refused; for what others wrote, which may be compressed. */
  readonly mostBytes?: number | undefined;
  /** The question has a condition: 304 is then an answer, and an empty one. */
  readonly mayBeUnchanged?: true | undefined;
  /** Sees every answer before it is judged: some clouds say more in headers. */
  heard?(answer: Response): void;
}

/** Answers what the cloud answers as JSON; nothing for an empty answer. Every failure is a fault. */
export type Ask = <T>(request: RestRequest, signal: AbortSignal) => Promise<T>;

const WITHIN_MS = 30_000;
const NOT_MODIFIED = 304;

/** Azure says it in milliseconds where seconds are too coarse. */
function waitOf(headers: Headers, nowMs: number): number | undefined {
  const exact = Number(headers.get('retry-after-ms') || Number.NaN);
  return retryAfterMs(Number.isNaN(exact) ? headers.get('retry-after') : String(exact / 1_000), nowMs);
}

function urlOf(base: string, { path, query = {} }: RestRequest): string {
  const url = new URL(`${base.replace(/\/+$/, '')}${path}`);
  for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, String(value));
  return url.href;
}

interface Content {
  readonly type: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

function contentOf({ body, form, bytes }: RestRequest): Content | undefined {
  if (bytes) return { type: bytes.type, body: bytes.content };
  if (form) return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(form).toString() };
  return body === undefined ? undefined : { type: 'application/json', body: JSON.stringify(body) };
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

async function textOf(answer: Response, mostBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new Fault('invalid', `The answer has more than ${mostBytes} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** A thin client of a cloud's REST API: a deadline, JSON in and out, faults by status. */
export function restClient(options: RestOptions): Ask {
  const { fetch: fetchFrom, clock, cloud, withinMs = WITHIN_MS } = options;

  async function exchange(request: RestRequest, signal: AbortSignal): Promise<{ answer: Response; text: string }> {
    const { method = 'GET' } = request;
    const content = contentOf(request);
    const headers = { accept: 'application/json', ...(await options.headers(signal)), ...request.headers };
    const answer = await fetchFrom(urlOf(options.base, request), {
      method,
      redirect: 'manual',
      signal,
      ...(content ? { headers: { ...headers, 'content-type': content.type }, body: content.body } : { headers }),
    });
    const { mostBytes } = request;
    return { answer, text: mostBytes === undefined ? await answer.text() : await textOf(answer, mostBytes) };
  }

  function refusal(what: string, { status, headers }: Response, text: string): Fault {
    const body = parsed(text);
    const { kind = kindOfStatus(status), message, remedy } = options.explain?.(status, body) ?? {};
    const said = plainMessage(message ?? text);
    return new Fault(kind, `${what} failed: ${status}${said === '' ? '' : `: ${said}`}`, {
      retryAfterMs: waitOf(headers, clock.now()),
      remedy,
      cause: body,
    });
  }

  return async <T>(request: RestRequest, signal: AbortSignal): Promise<T> => {
    const what = `${request.method ?? 'GET'} ${request.path} of ${cloud}`;
    const { answer, text } = await answered({ clock, what, withinMs }, signal, (ending) =>
      exchange(request, ending),
    ).catch((thrown) => {
      if (thrown instanceof Fault) throw thrown;
      throw new Fault('unavailable', `${what} got no answer: ${plainMessage(messagesOf(thrown))}`, { cause: thrown });
    });
    request.heard?.(answer);
    if (answer.status === NOT_MODIFIED && request.mayBeUnchanged) return undefined as T;
    if (!answer.ok) throw refusal(what, answer, text);
    if (request.isText) return text as T;
    const body = parsed(text);
    if (typeof body === 'string' && text !== '' && !text.startsWith('"'))
      throw new Fault('unavailable', `${what} got an answer that is not JSON.`);
    return body as T;
  };
}

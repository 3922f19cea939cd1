import { FAULTS, Fault, type FaultKind } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';

/** Address of the server and credentials. */
export interface Endpoint {
  readonly address: string;
  readonly token: string | undefined;
  /** Reads the token file of a server on this machine. */
  readonly tokenAgain?: () => string | undefined;
  /** CA to trust in addition to those of the machine, as PEM. */
  readonly ca?: string | undefined;
  /** Where the address comes from, for error messages. */
  readonly why: string;
  /** The pool of the context, for sessions that name none. */
  readonly pool?: string | undefined;
  /** Where a token was looked for, as a sentence. */
  readonly whyNoToken?: string | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Client of the server's HTTP API. */
export interface Client {
  readonly place: Endpoint;
  call<T>(path: string, call?: ApiRequest): Promise<T>;
  /** Resolves when the answer begins; its lines come as they are sent. Empty ones are left out: a server sends them so that
   * nothing cuts an answer on which little happens. */
  lines(path: string, call?: ApiRequest): Promise<AsyncIterable<string>>;
  /** The same for an answer that is no text. */
  bytes(path: string, call?: ApiRequest): Promise<AsyncIterable<Uint8Array>>;
  /** The items of a list, page after page, until there are `most`. */
  list<T>(path: string, query?: Query, most?: number): Promise<T[]>;
}

interface ProblemBody {
  readonly kind?: string;
  readonly detail?: string;
  readonly at?: string;
  readonly remedy?: string;
  readonly problems?: readonly Problem[];
}

const MOST_IN_A_PAGE = 1_000;

/** The fault for a status from a proxy between us and the server. */
function kindOfStatus(status: number): FaultKind {
  if (status >= 500) return 'unavailable';
  const kinds = Object.keys(FAULTS) as FaultKind[];
  return kinds.find((kind) => FAULTS[kind].http === status) ?? 'invalid';
}

function problemIn(text: string): ProblemBody {
  try {
    return JSON.parse(text) as ProblemBody;
  } catch {
    return {};
  }
}

// People do not see the request behind a command, so a path within it does not help them.
const IN_REQUEST = /^(path|query|body|headers|method|request)\b|^\[/;

/** The fault of an error response. */
export function faultOfAnswer(status: number, text: string): Fault {
  const { kind, detail, at, remedy, problems } = problemIn(text);
  const known = kind && kind in FAULTS ? (kind as FaultKind) : kindOfStatus(status);
  return new Fault(known, detail ?? `The server answered ${status}: ${text.slice(0, 200)}`, {
    at: at !== undefined && IN_REQUEST.test(at) ? undefined : at,
    remedy,
    problems,
  });
}

const codeOf = (thrown: unknown): string | undefined => (thrown as { cause?: { code?: string } }).cause?.code;

// Node's messages for certificates that are not trusted.
const NOT_TRUSTED = /CERT|UNABLE_TO_VERIFY/;
// Error codes of a plain request to a TLS port.
const CUT_AT_ONCE = /UND_ERR_SOCKET|ECONNRESET/;
// OpenSSL's message for a plain answer.
const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/;

/** The fault of a server that does not answer; `cause` is what `fetch` threw, or an error with a code as its cause. */
export function unreachable(place: Endpoint, cause: unknown): Fault {
  const { message, cause: inner } = cause as Error;
  const why = (codeOf(cause) ?? (inner instanceof Error ? inner.message : message)) || 'no answer';
  return new Fault('unavailable', `No Muster server answers at ${place.address} (${place.why}): ${why}.`, {
    cause,
    remedy: remedyFor(why, place),
  });
}

function remedyFor(why: string, { address }: Endpoint): string {
  if (NOT_TRUSTED.test(why)) {
    return 'Give its CA certificate with --ca or MUSTER_CA. It is ca.pem in the data directory of the server.';
  }
  if (NO_TLS.test(why)) return 'This server does not use TLS: write http:// instead of https://.';
  if (CUT_AT_ONCE.test(why) && address.startsWith('http:')) {
    return 'Write https:// if the server is on another machine. Otherwise another program may listen there.';
  }
  return 'Start it with `muster server` (in a clone `npm start`), or give another address with --address or MUSTER_ADDRESS.';
}

const tlsAddress = ({ address }: Endpoint): string => address.replace(/^http:/, 'https:');

/** Whether TLS is spoken where a plain request was cut: an answer, or a certificate that is not trusted, shows it. */
async function usesTls(place: Endpoint, fetch: typeof globalThis.fetch): Promise<boolean> {
  try {
    await fetch(new URL('/healthz', tlsAddress(place)), { method: 'HEAD', redirect: 'manual' });
    return true;
  } catch (thrown) {
    return NOT_TRUSTED.test(codeOf(thrown) ?? '');
  }
}

const needsTls = (place: Endpoint, cause: unknown): Fault =>
  new Fault('unavailable', `The server at ${place.address} (${place.why}) uses TLS.`, {
    cause,
    remedy: `Write ${tlsAddress(place)}.`,
  });

function withoutToken({ address, whyNoToken }: Endpoint): Fault {
  const why = whyNoToken === undefined ? '' : ` ${whyNoToken}`;
  return new Fault('unauthenticated', `The server at ${address} needs a token.${why}`, {
    remedy:
      'Create one where the server runs with `muster token create --role operator`, then set MUSTER_TOKEN to it, ' +
      `or log in with \`muster context add NAME ${address} --token-file FILE\`.`,
  });
}

/** The fault of a server that refuses. */
export const answeredRefusal = (place: Endpoint, status: number, text: string): Fault =>
  status === FAULTS.unauthenticated.http && place.token === undefined
    ? withoutToken(place)
    : faultOfAnswer(status, text);

const redirected = ({ address, why }: Endpoint, location: string): Fault =>
  new Fault('invalid', `The server at ${address} (${why}) redirects to ${location.slice(0, 200)}.`, {
    remedy:
      'Muster follows no redirect, because your token is for this address alone. Give the address of the server itself.',
  });

// Lost after the connection was established: the request may have arrived.
const MAY_HAVE_ARRIVED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT']);

/** Whether the request certainly reached no server. */
export function isUnreachable({ cause }: Fault): boolean {
  return cause !== undefined && !MAY_HAVE_ARRIVED.has(codeOf(cause) ?? '');
}

function urlOf(place: Endpoint, path: string, query: Query): URL {
  const url = new URL(`/api/v1${path}`, place.address);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function requestOf({ token }: Endpoint, { method = 'GET', body, headers, signal }: ApiRequest): RequestInit {
  const isUpload = body instanceof Uint8Array || body instanceof ReadableStream;
  const isText = typeof body === 'string';
  const type = isUpload ? 'application/octet-stream' : isText ? 'application/yaml' : 'application/json';
  return {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': type }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText || isUpload ? (body as string) : JSON.stringify(body) }),
    ...(body instanceof ReadableStream ? { duplex: 'half' as const } : {}),
    ...(signal ? { signal } : {}),
    // The token is for this address: it goes nowhere else, whatever an answer says.
    redirect: 'manual',
  };
}

/** An answer piece by piece; one that breaks off is the fault of the way, and can be asked for again. */
async function* bytesOf(reply: Response): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of reply.body ?? []) yield chunk as Uint8Array;
  } catch (cause) {
    throw new Fault('unavailable', 'Lost the connection to the server.', { cause });
  }
}

/** A whole answer. The fault has no cause: the server has received the request, whatever interrupted the answer. */
function textOf(reply: Response): Promise<string> {
  return reply.text().catch(() => {
    throw new Fault('unavailable', 'Lost the connection to the server.');
  });
}

async function* linesOf(reply: Response): AsyncGenerator<string> {
  for await (const line of allLinesOf(reply)) if (line !== '') yield line;
}

async function* allLinesOf(reply: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytesOf(reply)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

export function openClient(found: Endpoint, fetch: typeof globalThis.fetch): Client {
  let place = found;

  function ask(path: string, call: ApiRequest): Promise<Response> {
    return fetch(urlOf(place, path, call.query ?? {}), requestOf(place, call)).catch(async (thrown) => {
      const isCut = place.address.startsWith('http:') && CUT_AT_ONCE.test(codeOf(thrown) ?? '');
      throw isCut && (await usesTls(place, fetch)) ? needsTls(place, thrown) : unreachable(place, thrown);
    });
  }

  /** A server writes its first token before it answers, so the file exists by now. */
  function hasNewToken(): boolean {
    const token = place.tokenAgain?.();
    const isNew = token !== undefined && token !== place.token;
    if (isNew) place = { ...place, token };
    return isNew;
  }

  async function send(path: string, call: ApiRequest): Promise<Response> {
    let reply = await ask(path, call);
    if (reply.status === FAULTS.unauthenticated.http && hasNewToken()) reply = await ask(path, call);
    if (reply.ok) return reply;
    const location = reply.headers.get('location');
    if (reply.status >= 300 && reply.status < 400 && location !== null) throw redirected(place, location);
    throw answeredRefusal(place, reply.status, await textOf(reply));
  }

  const client: Client = {
    get place() {
      return place;
    },
    async call<T>(path: string, call: ApiRequest = {}) {
      const reply = await send(path, call);
      return (reply.status === 204 ? undefined : JSON.parse(await textOf(reply))) as T;
    },
    lines: async (path, call = {}) => linesOf(await send(path, call)),
    bytes: async (path, call = {}) => bytesOf(await send(path, call)),
    async list<T>(path: string, query: Query = {}, most = Number.POSITIVE_INFINITY) {
      const items: T[] = [];
      let after: string | undefined;
      do {
        const limit = Math.min(MOST_IN_A_PAGE, most - items.length);
        const page = await client.call<{ items: T[]; next?: string }>(path, { query: { ...query, limit, after } });
        items.push(...page.items);
        after = page.next;
      } while (after !== undefined && items.length < most);
      return items;
    },
  };
  return client;
}

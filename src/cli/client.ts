import { FAULTS, Fault, type FaultKind } from '#core/fault.ts';

/** Where the server is and who we are there. */
export interface Place {
  readonly address: string;
  readonly token: string | undefined;
  /** How we came to that address, for error messages. */
  readonly why: string;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The server's HTTP API; everything that the CLI knows comes from here. */
export interface Client {
  readonly place: Place;
  call<T>(path: string, call?: Call): Promise<T>;
  /** The answer as it comes, line by line. */
  lines(path: string, call?: Call): AsyncIterable<string>;
  /** Every item of a list, page after page. */
  all<T>(path: string, query?: Query): Promise<T[]>;
}

interface ProblemBody {
  readonly kind?: string;
  readonly detail?: string;
  readonly at?: string;
  readonly remedy?: string;
}

async function faultOf(reply: Response): Promise<Fault> {
  const text = await reply.text();
  let problem: ProblemBody = {};
  try {
    problem = JSON.parse(text) as ProblemBody;
  } catch {
    // Something between us and the server answered; its text is all there is.
  }
  const kind = problem.kind && problem.kind in FAULTS ? (problem.kind as FaultKind) : 'unavailable';
  return new Fault(kind, problem.detail ?? `The server answered ${reply.status}: ${text.slice(0, 200)}`, problem);
}

function unreachable(place: Place, cause: unknown): Fault {
  const code = ((cause as { cause?: { code?: string } }).cause?.code ?? (cause as Error).message) || 'no answer';
  const remedy = 'Start it with `npm start`, or name another with --address or MUSTER_ADDRESS.';
  return new Fault('unavailable', `No Muster server answers at ${place.address} (${place.why}): ${code}.`, {
    cause,
    remedy,
  });
}

function urlOf(place: Place, path: string, query: Query): URL {
  const url = new URL(`/api/v1${path}`, place.address);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function requestOf({ token }: Place, { method = 'GET', body, headers, signal }: Call): RequestInit {
  const isText = typeof body === 'string';
  const type = isText ? 'application/yaml' : 'application/json';
  return {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': type }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  };
}

export function openClient(place: Place, fetch: typeof globalThis.fetch): Client {
  async function send(path: string, call: Call): Promise<Response> {
    const reply = await fetch(urlOf(place, path, call.query ?? {}), requestOf(place, call)).catch((thrown) => {
      throw call.signal?.aborted ? thrown : unreachable(place, thrown);
    });
    if (!reply.ok) throw await faultOf(reply);
    return reply;
  }

  const client: Client = {
    place,
    async call<T>(path: string, call: Call = {}) {
      const reply = await send(path, call);
      return (reply.status === 204 ? undefined : await reply.json()) as T;
    },
    async *lines(path, call = {}) {
      const reply = await send(path, call);
      const decoder = new TextDecoder();
      let rest = '';
      for await (const chunk of reply.body ?? []) {
        const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        yield* lines;
      }
      if (rest !== '') yield rest;
    },
    async all<T>(path: string, query: Query = {}) {
      const items: T[] = [];
      let after: string | undefined;
      do {
        const page = await client.call<{ items: T[]; next?: string }>(path, {
          query: { limit: 1_000, ...query, after },
        });
        items.push(...page.items);
        after = page.next;
      } while (after !== undefined);
      return items;
    },
  };
  return client;
}

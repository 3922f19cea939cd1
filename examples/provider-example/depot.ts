// The depot itself, in memory: what the provider is tested against. It knows nothing of the provider.

interface Lent {
  readonly name: string;
  readonly size: string;
  readonly labels: { readonly cluster: string };
  readonly boot: string;
  readonly lentAtMs: number;
  readonly state: 'up' | 'broken';
  readonly reason?: string;
}

interface Kept {
  readonly name: string;
  readonly revision: number;
  readonly text: string;
}

/** What goes wrong with the next request of that kind. */
export interface Mishaps {
  error?: string | undefined;
  loseReply?: boolean;
  breakListing?: boolean;
  hang?: boolean;
  failLate?: boolean;
}

export const PAGE = 5;

const answer = (status: number, body: unknown): Response => Response.json(body, { status });
const refuse = (status: number, error: string): Response => answer(status, { error });

export function openDepot() {
  const machines = new Map<string, Lent>();
  const pools = new Map<string, Kept>();
  /** Documents that may not be read. */
  const sealed = new Set<string>();
  const mishaps: Mishaps = {};

  function page(all: readonly { readonly name: string }[], url: URL): Response {
    const from = Number(url.searchParams.get('from') ?? 0);
    if (mishaps.breakListing && from > 0) return refuse(502, 'upset');
    const items = all.slice(from, from + PAGE);
    const next = new URL(url);
    next.searchParams.set('from', String(from + PAGE));
    return answer(200, { items, ...(from + PAGE < all.length && { next: next.pathname + next.search }) });
  }

  async function machine(request: Request, name: string): Promise<Response> {
    const found = machines.get(name);
    if (request.method === 'PUT') {
      const { size, labels, boot } = (await request.json()) as Lent;
      const fate = mishaps.failLate
        ? ({ state: 'broken', reason: 'out_of_stock' } as const)
        : ({ state: 'up' } as const);
      const made: Lent = found ?? { name, size, labels, boot, lentAtMs: Date.now(), ...fate };
      machines.set(name, made);
      return answer(200, made);
    }
    if (!found) return refuse(404, 'not_found');
    if (request.method === 'DELETE') machines.delete(name);
    return answer(200, found);
  }

  function pool(name: string): Response {
    const found = pools.get(name);
    if (!found) return refuse(404, 'not_found');
    return sealed.has(name) ? refuse(403, 'not_allowed') : answer(200, found);
  }

  /** One request, one answer. */
  async function handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [, noun = '', name] = url.pathname.split('/').map(decodeURIComponent);
    const { error } = mishaps;
    mishaps.error = undefined;
    if (error) return refuse(409, error);
    if (noun === 'machines' && name) return machine(request, name);
    if (noun === 'pools' && name) return pool(name);
    const cluster = url.searchParams.get('cluster');
    if (noun === 'machines')
      return page(
        [...machines.values()].filter(({ labels }) => labels.cluster === cluster),
        url,
      );
    return page(
      [...pools.values()].map(({ name: key, revision }) => ({ name: key, revision })),
      url,
    );
  }

  /** The same over a line that may be cut. */
  async function line(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    if (mishaps.hang) await new Promise((_, giveUp) => request.signal.addEventListener('abort', giveUp));
    const reply = await handle(request);
    if (!mishaps.loseReply) return reply;
    mishaps.loseReply = false;
    throw new TypeError('the line was cut');
  }

  function keep(name: string, text: string): void {
    pools.set(name, { name, text, revision: (pools.get(name)?.revision ?? 0) + 1 });
  }

  return { machines, pools, sealed, mishaps, handle, fetch: line as typeof fetch, keep };
}

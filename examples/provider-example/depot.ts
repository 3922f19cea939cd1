// The depot itself, in memory: what the provider is tested against. It knows nothing of the provider.
import { answer, refuse } from './depot-answers.ts';
import { openRackRoom } from './rack-room.ts';

export interface Lent {
  readonly name: string;
  readonly size: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly boot: string;
  readonly lentAtMs: number;
  /** Why it will never be up. */
  readonly reason?: string;
}

interface Kept {
  readonly name: string;
  readonly revision: number;
  readonly text: string;
}

/** What goes wrong with the next request of that kind. */
export interface FailureRules {
  error?: string | undefined;
  loseReply?: boolean;
  breakListing?: boolean;
  /** From now on no listing shows a machine. */
  hideMachines?: boolean;
  hang?: boolean;
  /** How many of the next machines are lent and will never be up. */
  failLate?: number;
}

/** How the depot behaves. */
export interface Behaviour {
  now?(): number;
  readonly pageSize?: number;
  /** How late a listing shows a machine that was lent. */
  readonly lagMs?: number;
  /** From the loan until the machine is up. */
  readonly bootMs?: number;
}

export const PAGE = 5;

export function openDepot({ now = Date.now, pageSize = PAGE, lagMs = 0, bootMs = 0 }: Behaviour = {}) {
  const machines = new Map<string, Lent>();
  /** Names of machines that were given back: the depot lends under a name once. */
  const used = new Set<string>();
  const watchers: ((machine: Lent) => void)[] = [];
  const pools = new Map<string, Kept>();
  /** Documents that may not be read. */
  const sealed = new Set<string>();
  const failureRules: FailureRules = {};
  const rackRoom = openRackRoom(now);

  function page(all: readonly object[], url: URL): Response {
    const from = Number(url.searchParams.get('from') ?? 0);
    if (failureRules.breakListing && from > 0) return refuse(502, 'upset');
    const items = all.slice(from, from + pageSize);
    const next = new URL(url);
    next.searchParams.set('from', String(from + pageSize));
    return answer(200, { items, ...(from + pageSize < all.length && { next: next.pathname + next.search }) });
  }

  const isUp = ({ lentAtMs, reason }: Lent): boolean => reason === undefined && now() >= lentAtMs + bootMs;
  const stateOf = (lent: Lent): string => (isUp(lent) ? 'up' : lent.reason === undefined ? 'booting' : 'broken');
  const shown = (lent: Lent): object => ({ ...lent, state: stateOf(lent) });
  const changed = (lent: Lent): void => {
    for (const heard of watchers) heard(lent);
  };

  /** Lends a machine, as it does for any caller. */
  function lend(wanted: Pick<Lent, 'name' | 'size' | 'labels' | 'boot'>): Lent {
    const late = failureRules.failLate ?? 0;
    failureRules.failLate = Math.max(0, late - 1);
    const lent: Lent = { ...wanted, lentAtMs: now(), ...(late > 0 && { reason: 'out_of_stock' }) };
    machines.set(lent.name, lent);
    changed(lent);
    return lent;
  }

  function giveBack(lent: Lent): void {
    machines.delete(lent.name);
    used.add(lent.name);
    changed(lent);
  }

  async function machine(request: Request, name: string): Promise<Response> {
    const found = machines.get(name);
    if (request.method === 'PUT') {
      if (used.has(name)) return refuse(409, 'name_used');
      const { size, labels, boot } = (await request.json()) as Lent;
      return answer(200, shown(found ?? lend({ name, size, labels, boot })));
    }
    if (!found) return refuse(404, 'not_found');
    if (request.method === 'DELETE') giveBack(found);
    return answer(200, shown(found));
  }

  function listed(cluster: string | null): { readonly name: string }[] {
    if (failureRules.hideMachines) return [];
    const known = [...machines.values()].filter(
      ({ labels, lentAtMs }) => labels.cluster === cluster && now() - lentAtMs >= lagMs,
    );
    return known.map((lent) => ({ name: lent.name, ...shown(lent) }));
  }

  function pool(name: string): Response {
    const found = pools.get(name);
    if (!found) return refuse(404, 'not_found');
    return sealed.has(name) ? refuse(403, 'not_allowed') : answer(200, found);
  }

  function racked(method: string, path: readonly string[], url: URL): Response {
    const found = rackRoom.handle(method, path);
    return found instanceof Response ? found : page(found, url);
  }

  /** One request, one answer. */
  async function handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [, noun = '', name, ...rest] = url.pathname.split('/').map(decodeURIComponent);
    const { error } = failureRules;
    failureRules.error = undefined;
    if (error) return refuse(409, error);
    if (noun === 'racks') return racked(request.method, name === undefined ? [] : [name, ...rest], url);
    if (noun === 'machines' && name) return machine(request, name);
    if (noun === 'pools' && name) return pool(name);
    if (noun === 'machines') return page(listed(url.searchParams.get('cluster')), url);
    return page(
      [...pools.values()].map(({ name: key, revision }) => ({ name: key, revision })),
      url,
    );
  }

  /** The same over a line that may be cut. */
  async function line(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    if (failureRules.hang) await new Promise((_, giveUp) => request.signal.addEventListener('abort', giveUp));
    const reply = await handle(request);
    if (!failureRules.loseReply) return reply;
    failureRules.loseReply = false;
    throw new TypeError('the line was cut');
  }

  function keep(name: string, text: string): void {
    pools.set(name, { name, text, revision: (pools.get(name)?.revision ?? 0) + 1 });
  }

  return {
    machines,
    pools,
    sealed,
    failureRules,
    rackRoom,
    handle,
    fetch: line as typeof fetch,
    keep,
    lend,
    isUp,
    /** Called with each machine that is lent or given back. */
    watch: (heard: (machine: Lent) => void) => void watchers.push(heard),
  };
}

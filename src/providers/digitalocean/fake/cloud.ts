// The droplets of DigitalOcean's API v2, as far as this provider uses it, with its limits and refusals. It knows nothing
// of the provider.
import type { Clock } from '#core/clock.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { type Limits, noLimits, openBuckets } from '#fakes/limits.ts';
import { refusal } from '#fakes/refusal.ts';
import { follow } from '#fakes/timeline.ts';
import { LISTS } from './catalogue.ts';
import { checkCreation, refuseFlaws, type Wanted } from './check-creation.ts';
import { type FakeDroplet, hasGpus, shown, stateAt } from './droplet.ts';
import { TOKENS } from './seed-data.ts';
import { type DropletCall, readCall } from './wire.ts';

export interface FakeDigitalOceanOptions {
  readonly clock: Clock;
  /** The most items on a page; 200 is the most that it allows. */
  readonly pageSize?: number;
  readonly limits?: Limits<DropletCall>;
  readonly lagMs?: number;
  readonly bootMs?: number;
}

export interface FakeDigitalOcean extends Answering<DropletCall, DropletCall & RecordedCall> {
  /** How this cloud behaves; tests change it as they go. */
  readonly behaviour: { lagMs: number };
  /** All droplets that ever were. */
  readonly droplets: readonly FakeDroplet[];
  readonly tags: ReadonlySet<string>;
  /** By size: how many are left; absent: enough. */
  readonly stock: Map<string, number>;
  /** How many droplets the account may have. */
  limit: number;
  /** Whether a deletion by tag takes nothing, as it may be with GPU droplets. */
  ignoresTags: boolean;
  /** By token: another account than the usual one. */
  readonly accounts: Map<string, string>;
  /** The tokens of the usual account. */
  readonly tokens: Set<string>;
  /** Tokens that are refused. */
  readonly revoked: Set<string>;
  /** Someone makes a droplet by hand. */
  add(wanted: Partial<Wanted>): FakeDroplet;
  /** Someone destroys a droplet by hand, or the host breaks. */
  destroy(droplet: FakeDroplet): void;
  /** The next droplets are promised and never come. */
  refuseLate(count: number): void;
  watch(changed: (droplet: FakeDroplet) => void): () => void;
}

const [BOOT_MS, END_MS, LATE_MS, LAG_MS] = [2_000, 1_000, 3_000, 2_000];
const [LARGEST_PAGE, USUAL_PAGE] = [200, 20];
const FIRST_ID = 500_000_000;
const USUAL_ACCOUNT = 'b6fr89dbf6d9156cace5f3c78dc9851d957381ef';

/** What the API reference says of every token. */
export const publishedLimits: Limits<DropletCall> = () => [
  { limit: { bucket: 'hour', size: 5_000, perSecond: 5_000 / 3_600 }, count: 1 },
  { limit: { bucket: 'minute', size: 250, perSecond: 250 / 60 }, count: 1 },
];

const tooMuch = (): Error => refusal('too_many_requests', 'API Rate limit exceeded.', 429);
const absent = (): Error => refusal('not_found', 'The resource you were accessing could not be found.', 404);

export function openFakeDigitalOcean(options: FakeDigitalOceanOptions): FakeDigitalOcean {
  const { clock, pageSize = LARGEST_PAGE, limits = noLimits, bootMs = BOOT_MS } = options;
  const behaviour = { lagMs: options.lagMs ?? LAG_MS };
  const droplets: FakeDroplet[] = [];
  const byId = new Map<number, FakeDroplet>();
  const tags = new Set<string>();
  const tokens = new Set(TOKENS);
  const watchers = new Set<(droplet: FakeDroplet) => void>();
  const [stock, accounts, revoked] = [new Map<string, number>(), new Map<string, string>(), new Set<string>()];
  const take = openBuckets<DropletCall>({ limits: () => limits, tooMuch });
  const settings = { limit: 10_000, late: 0, ignoresTags: false };

  const isThere = (droplet: FakeDroplet): boolean => stateAt(droplet, clock.now()) !== 'gone';
  const changed = (droplet: FakeDroplet): void => {
    for (const heard of watchers) heard(droplet);
  };
  const accountOf = ({ token }: DropletCall): string => accounts.get(token) ?? USUAL_ACCOUNT;
  const ofCaller = (call: DropletCall): FakeDroplet[] =>
    droplets.filter((one) => one.account === accountOf(call) && isThere(one));

  function make(
    account: string,
    { tags: asked, user_data = '', ...wanted }: Omit<Wanted, 'names'> & { name: string },
  ): FakeDroplet {
    const madeAtMs = clock.now();
    const isStillborn = settings.late > 0;
    settings.late = Math.max(0, settings.late - 1);
    const next = isStillborn
      ? { atMs: madeAtMs + LATE_MS, state: 'gone' as const }
      : { atMs: madeAtMs + bootMs, state: 'active' as const };
    const id = FIRST_ID + droplets.length;
    const timeline = [{ atMs: madeAtMs, state: 'new' as const }, next];
    const own = { id, action: id + FIRST_ID, account, madeAtMs, isStillborn, timeline };
    const droplet = { ...wanted, ...own, tags: new Set(asked), userData: user_data };
    for (const tag of asked) tags.add(tag);
    droplets.push(droplet);
    byId.set(id, droplet);
    changed(droplet);
    return droplet;
  }

  function end(droplet: FakeDroplet): void {
    const atMs = clock.now();
    droplet.timeline = follow(
      droplet.timeline.filter((step) => step.atMs <= atMs),
      [
        { atMs, state: 'ending' },
        { atMs: atMs + END_MS, state: 'gone' },
      ],
    );
    changed(droplet);
  }

  function found(call: DropletCall): FakeDroplet {
    const droplet = byId.get(Number(call.subject));
    if (!droplet || !isThere(droplet) || droplet.account !== accountOf(call)) throw absent();
    return droplet;
  }

  /** A page by its number: what has gone meanwhile moves the rest forward. */
  function paged(call: DropletCall, key: string, items: readonly unknown[]): Response {
    const asked = Number(call.query.per_page ?? USUAL_PAGE);
    if (!(asked >= 1 && asked <= LARGEST_PAGE)) throw refusal('bad_request', 'per_page is out of range.', 400);
    const size = Math.min(asked, pageSize);
    const next =
      call.page * size < items.length ? { pages: { next: `https://here${call.path}?page=${call.page + 1}` } } : {};
    const page = items.slice((call.page - 1) * size, call.page * size);
    return Response.json({ [key]: page, links: next, meta: { total: items.length } });
  }

  function list(call: DropletCall): Response {
    const { tag_name: tag, type = 'droplets', name } = call.query;
    if (tag !== undefined && (call.query.type ?? name) !== undefined)
      throw refusal('bad_request', 'tag_name cannot be combined with type or name.', 400);
    const nowMs = clock.now();
    const seen = ofCaller(call)
      .filter(({ madeAtMs }) => nowMs - madeAtMs >= behaviour.lagMs)
      .filter((one) => hasGpus(one) === (type === 'gpus'))
      .filter((one) => tag === undefined || one.tags.has(tag))
      .filter((one) => name === undefined || one.name === name);
    const items = seen.map((one) => shown(one, nowMs));
    return paged(call, 'droplets', items);
  }

  function create(call: DropletCall): Response {
    const { names, ...wanted } = checkCreation(call.body);
    const left = stock.get(wanted.size) ?? Number.POSITIVE_INFINITY;
    if (ofCaller(call).length + names.length > settings.limit)
      throw refusal('unprocessable_entity', 'creating this/these droplet(s) will exceed your droplet limit', 422);
    if (left < names.length) throw refusal('unprocessable_entity', 'Size is not available in this region.', 422);
    if (left !== Number.POSITIVE_INFINITY) stock.set(wanted.size, left - names.length);
    const made = names.map((name) => make(accountOf(call), { ...wanted, name }));
    const items = made.map((one) => shown(one, clock.now()));
    const actions = made.map(({ action: id }) => ({ id, rel: 'create', href: `https://here/v2/actions/${id}` }));
    const isOne = call.body.names === undefined;
    return Response.json(
      { ...(isOne ? { droplet: items[0] } : { droplets: items }), links: { actions } },
      { status: 202 },
    );
  }

  function shownAction({ action: id, id: resource_id, isStillborn, timeline }: FakeDroplet): object {
    const isOver = clock.now() >= (timeline[1]?.atMs ?? 0);
    const status = isOver ? (isStillborn ? 'errored' : 'completed') : 'in-progress';
    return { id, status, type: 'create', resource_id, resource_type: 'droplet' };
  }

  function action({ subject }: DropletCall): Response {
    const droplet = byId.get(Number(subject) - FIRST_ID);
    if (!droplet) throw absent();
    return Response.json({ action: shownAction(droplet) });
  }

  /** All that ever were, the newest first. */
  function lastActions(call: DropletCall): Response {
    const own = droplets.filter(({ account }) => account === accountOf(call));
    return paged(call, 'actions', own.toReversed().map(shownAction));
  }

  function tagAll({ subject, body }: DropletCall): Response {
    if (!tags.has(subject)) throw absent();
    for (const { resource_id } of (body.resources ?? []) as { resource_id: string }[])
      byId.get(Number(resource_id))?.tags.add(subject);
    return new Response(null, { status: 204 });
  }

  function createTag({ body }: DropletCall): Response {
    tags.add(String(body.name));
    return Response.json({ tag: { name: body.name } }, { status: 201 });
  }

  const removed = (gone: readonly FakeDroplet[]): Response => {
    for (const droplet of gone) end(droplet);
    return new Response(null, { status: 204 });
  };
  const actions: Readonly<Record<string, (call: DropletCall) => Response>> = {
    account: (call) =>
      Response.json({ account: { uuid: accountOf(call), droplet_limit: settings.limit, status: 'active' } }),
    list,
    create,
    get: (call) => Response.json({ droplet: shown(found(call), clock.now()) }),
    delete: (call) => removed([found(call)]),
    deleteByTag: (call) => {
      const { tag_name: tag = '' } = call.query;
      return removed(ofCaller(call).filter((one) => one.tags.has(tag) && !settings.ignoresTags));
    },
    action,
    actions: lastActions,
    createTag,
    tag: tagAll,
  };

  function answer(call: DropletCall): Response {
    const isKnown = tokens.has(call.token) || accounts.has(call.token);
    if (!isKnown || revoked.has(call.token)) throw refusal('unauthorized', 'Unable to authenticate you.', 401);
    take(call, clock.now());
    refuseFlaws(call);
    const [key, items] = LISTS[call.action] ?? [];
    if (key && items) return paged(call, key, items);
    const act = actions[call.action];
    if (!act) throw absent();
    return act(call);
  }

  const answering = openAnswering<DropletCall, DropletCall & RecordedCall>(
    {
      read: readCall,
      record: (call, atMs) => ({ ...call, atMs, outcome: 'open' }),
      answer,
      refuse: (_call, { code, message, status }) =>
        Response.json(
          { id: code, message, request_id: 'f1a1c1e0' },
          { status, headers: status === 429 ? { 'retry-after': '5', 'ratelimit-remaining': '0' } : {} },
        ),
      tooMuch,
    },
    clock,
  );
  return {
    ...answering,
    behaviour,
    droplets,
    tags,
    stock,
    accounts,
    tokens,
    revoked,
    get limit() {
      return settings.limit;
    },
    set limit(most) {
      settings.limit = most;
    },
    get ignoresTags() {
      return settings.ignoresTags;
    },
    set ignoresTags(isIgnored) {
      settings.ignoresTags = isIgnored;
    },
    add: ({ names = [`by-hand-${droplets.length}`], ...wanted }) =>
      make(USUAL_ACCOUNT, {
        region: 'atl1',
        size: 's-1vcpu-1gb',
        image: 'ubuntu-24-04-x64',
        tags: [],
        ...wanted,
        name: names[0] ?? '',
      }),
    destroy: end,
    refuseLate(count) {
      settings.late = count;
    },
    watch(heard) {
      watchers.add(heard);
      return () => void watchers.delete(heard);
    },
  };
}

// The spot bids of Mithril's API v2, as far as this provider uses it. It knows nothing of the provider.
import type { Clock } from '#core/clock.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { type Limits, noLimits, openBuckets } from '#fakes/limits.ts';
import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import { follow } from '#fakes/timeline.ts';
import { type FakeBid, shownBid, shownInstance, stateAt } from './bid.ts';
import { availability, keysOf, member, prices, projects, teammates, types } from './catalogue.ts';
import { centsOf, checkBid, type Wanted } from './check-bid.ts';
import { absent, type FieldRefusal, noAccess, refuseFlaws, tooMany, unauthorized } from './refusals.ts';
import { PROJECT, PROJECTS, TOKENS, TYPES } from './seed-data.ts';
import { type MithrilCall, readCall } from './wire.ts';

export interface FakeMithrilOptions {
  readonly clock: Clock;
  /** The most items on a page. */
  readonly pageSize?: number;
  readonly limits?: Limits<MithrilCall>;
  readonly lagMs?: number;
  /** From the bid until its instance runs. */
  readonly bootMs?: number;
}

export interface FakeMithril extends Answering<MithrilCall, MithrilCall & RecordedCall> {
  /** How this cloud behaves; tests change it as they go. */
  readonly behaviour: { lagMs: number };
  /** All bids that ever were. */
  readonly bids: readonly FakeBid[];
  /** The API tokens that it takes. */
  readonly tokens: Set<string>;
  /** How many bids the project may have. */
  quota: number;
  /** Someone makes a bid by hand. */
  add(name: string): FakeBid;
  /** The instance is announced to go, and goes five minutes later; the bid stays open. */
  preempt(bid: FakeBid): void;
  /** The next bids stay open. */
  refuseLate(count: number): void;
  watch(changed: (bid: FakeBid) => void): () => void;
  /** The states of a bid were set by hand. */
  changed(bid: FakeBid): void;
}

const [BOOT_MS, END_MS, LAG_MS, NOTICE_MS] = [2_000, 1_000, 2_000, 300_000];
const [LARGEST_PAGE, USUAL_PAGE] = [100, 20];
const TOKEN_LIFE_MS = 3_600_000;

/** Mithril publishes none; these are there so that a flood is noticed. */
export const someLimits: Limits<MithrilCall> = () => [
  { limit: { bucket: 'calls', size: 200, perSecond: 50 }, count: 1 },
];

export function openFakeMithril(options: FakeMithrilOptions): FakeMithril {
  const { clock, pageSize = LARGEST_PAGE, limits = noLimits, bootMs = BOOT_MS } = options;
  const behaviour = { lagMs: options.lagMs ?? LAG_MS };
  const bids: FakeBid[] = [];
  const byFid = new Map<string, FakeBid>();
  const tokens = new Set(TOKENS);
  const watchers = new Set<(bid: FakeBid) => void>();
  const take = openBuckets<MithrilCall>({ limits: () => limits, tooMuch: tooMany });
  const settings = { quota: 10_000, late: 0 };
  const changed = (bid: FakeBid): void => {
    for (const heard of watchers) heard(bid);
  };

  function then(bid: FakeBid, [first, ...rest]: FakeBid['timeline']): void {
    const nowMs = clock.now();
    if (!first) return;
    bid.timeline = follow(
      bid.timeline.filter((step) => step.atMs <= nowMs),
      [first, ...rest],
    );
    changed(bid);
  }

  /** From an open bid to a running instance. */
  function rise(atMs: number): FakeBid['timeline'] {
    return [
      { atMs, state: 'Open' },
      { atMs: atMs + Math.floor(bootMs / 2), state: 'Allocated' },
      { atMs: atMs + bootMs, state: 'running' },
    ];
  }

  /** The auction takes no bid below the spot price: it stays open. */
  const isTooLow = ({ instanceType, limitPrice }: Wanted): boolean =>
    centsOf(limitPrice) < (TYPES.find(({ fid }) => fid === instanceType)?.spot_price_cents ?? 0);

  function make(wanted: Wanted): FakeBid {
    const madeAtMs = clock.now();
    const isLate = settings.late > 0 || isTooLow(wanted);
    settings.late = Math.max(0, settings.late - 1);
    const timeline = isLate ? [{ atMs: madeAtMs, state: 'Open' as const }] : rise(madeAtMs);
    const bid = { ...wanted, fid: `bid_${String(bids.length).padStart(8, '0')}`, madeAtMs, timeline };
    bids.push(bid);
    byFid.set(bid.fid, bid);
    changed(bid);
    return bid;
  }

  function found({ subject }: MithrilCall): FakeBid {
    const bid = byFid.get(subject);
    if (!bid) throw absent('Bid');
    return bid;
  }

  function paged(call: MithrilCall, items: readonly FakeBid[], show: (bid: FakeBid) => unknown): Response {
    const asked = Number(call.query.limit ?? USUAL_PAGE);
    const question = {
      of: `${call.action} ${call.query.project}`,
      token: call.query.next_cursor,
      size: Math.min(asked, pageSize),
      nowMs: clock.now(),
      emptyPages: 0,
      tokenLifeMs: TOKEN_LIFE_MS,
    };
    const cursor = cursorOf(question);
    if (!cursor) throw refusal('bad_request', 'The cursor is not valid.', 400);
    const page = pageOf(
      question,
      cursor,
      inOrder(items, ({ fid }) => fid),
    );
    return Response.json({ data: page.items.map(show), next_cursor: page.token ?? null });
  }

  function listed(call: MithrilCall): FakeBid[] {
    const nowMs = clock.now();
    const { project, name, status } = call.query;
    return bids
      .filter((bid) => project === undefined || bid.project === project)
      .filter((bid) => nowMs - bid.madeAtMs >= behaviour.lagMs)
      .filter((bid) => name === undefined || bid.name === name)
      .filter((bid) => status === undefined || shownBid(bid, nowMs).status === status);
  }

  function create({ body }: MithrilCall): Response {
    const wanted = checkBid(body);
    const living = bids.filter((bid) => stateAt(bid, clock.now()) !== 'Terminated').length;
    if (living >= settings.quota)
      throw refusal('bad_request', 'Quota exceeded for spot instances in this project', 400);
    return Response.json(shownBid(make(wanted), clock.now()), { status: 201 });
  }

  function update(call: MithrilCall): Response {
    const bid = found(call);
    const [nowMs, state] = [clock.now(), stateAt(bid, clock.now())];
    if (state === 'Terminated' || state === 'ending') throw refusal('conflict', 'The bid is terminated', 409);
    if (call.body.paused === true && state !== 'Paused') then(bid, [{ atMs: nowMs, state: 'Paused' }]);
    if (call.body.paused === false && state === 'Paused') then(bid, rise(nowMs));
    return Response.json(shownBid(bid, nowMs));
  }

  function end(bid: FakeBid): Response {
    const atMs = clock.now();
    then(bid, [
      { atMs, state: 'ending' },
      { atMs: atMs + END_MS, state: 'Terminated' },
    ]);
    return new Response(null, { status: 204 });
  }

  const actions: Readonly<Record<string, (call: MithrilCall) => Response>> = {
    types: () => Response.json(types()),
    availability: () => Response.json(availability()),
    price: ({ query }) => {
      const found = prices(query.instance_type);
      if (!found) throw absent('Instance type');
      return Response.json(found);
    },
    me: () => Response.json(member()),
    teammates: () => Response.json(teammates()),
    projects: () => Response.json(projects()),
    sshKeys: ({ query }) => Response.json(keysOf(query.project)),
    list: (call) => paged(call, listed(call), (bid) => shownBid(bid, clock.now())),
    instances: (call) => {
      const nowMs = clock.now();
      const running = listed(call).filter((bid) => shownInstance(bid, nowMs) !== undefined);
      return paged(call, running, (bid) => shownInstance(bid, nowMs));
    },
    create,
    get: (call) => Response.json(shownBid(found(call), clock.now())),
    update,
    delete: (call) => end(found(call)),
  };

  function answer(call: MithrilCall): Response {
    if (!tokens.has(call.token)) throw unauthorized();
    take(call, clock.now());
    const act = actions[call.action];
    if (!act) throw refusal('not_found', 'Not Found', 404);
    refuseFlaws(call);
    const { project } = call.query;
    if (project !== undefined && !PROJECTS.some(({ fid }) => fid === project)) throw noAccess();
    return act(call);
  }

  const answering = openAnswering<MithrilCall, MithrilCall & RecordedCall>(
    {
      read: readCall,
      record: (call, atMs) => ({ ...call, atMs, outcome: 'open' }),
      answer,
      refuse(_call, refused) {
        const { message, status, details } = refused as Partial<FieldRefusal>;
        return Response.json({ detail: details ?? message }, { status: status ?? 500 });
      },
      tooMuch: tooMany,
    },
    clock,
  );
  return {
    ...answering,
    behaviour,
    bids,
    tokens,
    get quota() {
      return settings.quota;
    },
    set quota(most) {
      settings.quota = most;
    },
    add: (name) =>
      make({
        name,
        project: PROJECT,
        region: 'us-west-2',
        instanceType: 'it_8xh1001',
        limitPrice: '$4.50',
        launch: { volumes: [], ssh_keys: [] },
      }),
    preempt(bid) {
      const atMs = clock.now();
      then(bid, [
        { atMs, state: 'Preempting' },
        { atMs: atMs + NOTICE_MS, state: 'preempted' },
      ]);
    },
    refuseLate(count) {
      settings.late = count;
    },
    changed,
    watch(heard) {
      watchers.add(heard);
      return () => void watchers.delete(heard);
    },
  };
}

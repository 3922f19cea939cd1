import { SECOND_MS } from '#core/clock.ts';
import type { EventRow } from '#core/journal.ts';
import { POOL_PHASES } from '#core/pool.ts';
import { addPrices } from '#core/pool-price.ts';
import type { ApiDeps } from './deps.ts';
import { mostUrgent } from './fleet-problems.ts';
import type { FleetSums } from './fleet-sums.ts';
import type { Noun, WholeApi } from './noun.ts';
import { type Route, route } from './route.ts';
import { shownEvent } from './shown/event.ts';
import { Overview } from './wire/overview.ts';
import { toTime } from './wire/shared.ts';

const MOST_EVENTS = 10;
// Events hold messages of clouds; ten of the longest would double the answer.
const MOST_MESSAGE = 200;

function poolsOf({ store: { view } }: ApiDeps): Overview['pools'] {
  const byPhase = Object.fromEntries(POOL_PHASES.map((phase) => [phase, view.pools.count('phase', phase)]));
  return { total: view.pools.size, ...(byPhase as Omit<Overview['pools'], 'total'>) };
}

function workersOf({ workers: by }: FleetSums): Overview['workers'] {
  const { launching, booting, ...phases } = by;
  const starting = launching + booting;
  const total = Object.values(phases).reduce((sum, count) => sum + count, starting);
  return { total, starting, ...phases };
}

function costOf(
  { store }: ApiDeps,
  { price }: FleetSums,
): Pick<Overview, 'dollars_per_hour' | 'machines_without_price'> {
  const sum = { ...price };
  addPrices(store, sum, store.view.computerMachines.all());
  return { dollars_per_hour: sum.priceNano / 1e9, machines_without_price: sum.unpriced };
}

function featuresOf({ store, features }: ApiDeps): Pick<Overview, 'computers' | 'runtimes' | 'nodes' | 'images'> {
  const { computers, runtimes } = store.view;
  const failed = Iterator.from(computers.all()).filter(({ failure }) => failure !== undefined);
  const nodes = features.nodes?.list();
  return {
    computers: features.computers && { total: computers.size, in_error: failed.toArray().length },
    runtimes: features.runtimes && { total: runtimes.size, in_error: runtimes.count('phase', 'error') },
    nodes: nodes && { total: nodes.length, in_error: nodes.filter(({ isReady }) => !isReady).length },
    images: features.images && { total: store.view.images.size },
  };
}

function sourcesOf({ store }: ApiDeps): Overview['sources'] {
  const { sources, documents } = store.view;
  const all = [...sources.all()];
  return {
    total: all.length,
    in_error: all.filter(({ fault }) => fault !== undefined).length,
    with_refused_documents: all.filter(({ id }) => documents.count('faulty', id) > 0).length,
  };
}

function shortEvent(row: EventRow, store: ApiDeps['store']): Overview['events'][number] {
  const { fields: _, ...event } = shownEvent(row, store);
  const { message } = event;
  return { ...event, message: message.length > MOST_MESSAGE ? `${message.slice(0, MOST_MESSAGE - 1)}…` : message };
}

async function compute(deps: ApiDeps, { figures, problems }: WholeApi): Promise<Overview> {
  const { store, clock } = deps;
  const sums = await figures.now();
  const urgent = await mostUrgent(problems(sums), deps);
  const events = await store.history.events({}, { limit: MOST_EVENTS, order: 'newest first' });
  const queuedSince = sums.queuedSince();
  return {
    at: toTime(clock.now()),
    problems: urgent.problems,
    more_problems: urgent.more,
    workers: workersOf(sums),
    sessions: { ...sums.sessions },
    longest_wait_ms: queuedSince === undefined ? 0 : Math.max(0, clock.now() - queuedSince),
    ...costOf(deps, sums),
    pools: poolsOf(deps),
    sources: sourcesOf(deps),
    ...featuresOf(deps),
    events: events.map((row) => shortEvent(row, store)),
  };
}

/** One answer for all who ask within a second. */
function onceASecond<T>({ clock }: Pick<ApiDeps, 'clock'>, make: () => Promise<T>): () => Promise<T> {
  let made: { readonly atMs: number; readonly answer: Promise<T> } | undefined;
  return () => {
    const nowMs = clock.monotonic();
    if (made && nowMs - made.atMs < SECOND_MS) return made.answer;
    const answer = make();
    made = { atMs: nowMs, answer };
    // What failed is not kept.
    answer.catch(() => {
      made = undefined;
    });
    return answer;
  };
}

function overviewRoutes(deps: ApiDeps, whole: WholeApi): Route[] {
  const overview = onceASecond(deps, () => compute(deps, whole));
  return [
    route({
      method: 'GET',
      path: '/overview',
      role: 'viewer',
      summary: 'The fleet in one answer of bounded size: problems first, then sums and the last events.',
      reply: Overview,
      handle: () => overview(),
    }),
  ];
}

export const noun: Noun = { tag: 'server', order: 115, routes: overviewRoutes };

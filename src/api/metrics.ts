import { Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '#core/clock.ts';
import type { FaultKind } from '#core/fault.ts';
import type { PublicFeatures } from '#core/feature.ts';
import type { DecisionRow } from '#core/journal.ts';
import type { Session } from '#core/session.ts';
import type { Change, Store } from '#core/store.ts';
import { openGauges } from './gauges.ts';
import type { SyncTimes } from './noun.ts';
import { nouns } from './nouns.gen.ts';
import { OTHER_POOLS, openPoolLabels } from './pool-labels.ts';
import { openProcessMetrics } from './process-metrics.ts';
import { REASONS } from './reasons.gen.ts';
import { scrapeText } from './scrape-text.ts';
import { openSeriesCounter } from './series-counter.ts';
import { TimeHistogram } from './time-histogram.ts';

/** Metrics for Prometheus. Gauges are read from the store; the rest is reported by its owner. */
export interface Metrics {
  /** A call to a cloud has ended; `kind` is the backend's or the source's. */
  cloudCall(call: { kind: string; call: string; fault: FaultKind | undefined; ms: number }): void;
  /** An HTTP request was answered; `route` is its pattern, never its path. */
  httpAnswered(answer: { method: string; route: string; status: number; ms: number }): void;
  /** Timings of syncs; the store has only those of syncs that changed something. */
  followSyncs(timings: () => SyncTimes): void;
  /** Features know what no row holds. */
  followFeatures(features: Partial<PublicFeatures>): void;
  /** All metrics, also those without a series yet. */
  describe(): readonly DescribedMetric[];
  /** The text that a scrape gets. */
  text(): Promise<string>;
  readonly contentType: string;
  stop(): void;
}

export interface DescribedMetric {
  readonly name: string;
  readonly type: string;
  readonly labelNames: readonly string[];
  readonly help: string;
}

/** What this program was made of. */
export interface Build {
  readonly version: string;
  readonly commit: string | undefined;
}

export interface MetricsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Also the figures of the process itself: memory, CPU, event-loop lag. */
  readonly withProcess?: boolean;
  readonly build?: Build;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const MINUTES = [0.01, 0.1, 1, 5, 10, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 14_400];

function openSeries(registry: Registry) {
  const registers = [registry];
  return {
    queueWait: new TimeHistogram({
      name: 'muster_session_queue_wait_seconds',
      help: 'Time from accepting a session to placing it on a slot, by pool.',
      labelNames: ['pool'],
      buckets: MINUTES,
      registry,
    }),
    launch: new TimeHistogram({
      name: 'muster_launch_seconds',
      help: 'Time from requesting a machine to its agent joining, by pool and kind of backend.',
      labelNames: ['pool', 'kind'],
      buckets: MINUTES,
      registry,
    }),
    decisions: openSeriesCounter({
      name: 'muster_decisions_total',
      help: 'Decisions recorded, by pool, kind of subject, action and reason.',
      labelNames: ['pool', 'subject', 'did', 'reason'],
      registry,
    }),
    sessionsEnded: openSeriesCounter({
      name: 'muster_sessions_ended_total',
      help: 'Sessions ended, by pool and outcome.',
      labelNames: ['pool', 'how'],
      registry,
    }),
    http: new TimeHistogram({
      name: 'muster_http_request_seconds',
      help: 'HTTP requests, by route.',
      labelNames: ['method', 'route', 'status'],
      buckets: SECONDS,
      registry,
    }),
    cloud: new Histogram({
      name: 'muster_cloud_call_seconds',
      help: 'Calls to clouds, by kind, call and fault.',
      labelNames: ['kind', 'call', 'fault'],
      buckets: MINUTES,
      registers,
    }),
  };
}

const bySubject = new Map(REASONS.map((kind) => [kind.subject, kind]));

/** Labels of closed lists, so that no text can create unbounded series. */
function decisionLabels(subject: string, did: string, code: string) {
  const kind = bySubject.get(subject);
  if (!kind) return { subject: 'other', did: 'other', reason: 'other' };
  const verb = kind.verbs.find((each) => did.startsWith(each)) ?? (did === 'nothing' ? 'nothing' : 'other');
  return { subject, did: verb, reason: code in kind.reasons ? code : 'other' };
}

function showBuild(registry: Registry, { version, commit = '' }: Build): void {
  new Gauge({
    name: 'muster_build_info',
    help: 'Always 1; the labels name the version, the commit and the Node of the server.',
    labelNames: ['version', 'commit', 'node'],
    registers: [registry],
  }).set({ version, commit, node: process.version }, 1);
}

/** Opens a registry of our own, so that several servers in one process do not mix their figures. */
export function openMetrics({ store, clock, withProcess = false, build }: MetricsDeps): Metrics {
  const registry = new Registry();
  const ofProcess = withProcess ? openProcessMetrics(registry) : undefined;
  if (build) showBuild(registry, build);
  const series = openSeries(registry);
  const poolLabels = openPoolLabels(store, (pool) => {
    const isOf = (labels: { readonly pool?: string | number }): boolean => labels.pool === pool;
    for (const metric of [series.queueWait, series.launch, series.decisions, series.sessionsEnded]) metric.drop(isOf);
  });
  let syncTimes = (): SyncTimes => new Map();
  let features: Partial<PublicFeatures> = {};
  const world = { registry, store, clock, poolLabels, syncTimes: () => syncTimes(), features: () => features };
  const gauges = openGauges(nouns, world);

  function poolOf(id: string, isActive: boolean): string {
    const name = store.view.pools.get(id)?.name;
    if (name === undefined) return OTHER_POOLS;
    return isActive ? poolLabels.ofActive(name) : poolLabels.ofIdle(name);
  }

  function followDecision({ subject, did, reason }: DecisionRow): void {
    const [kind = '', id = ''] = subject.split('/', 2);
    const labels = decisionLabels(kind, did, reason?.code ?? '');
    const pool = kind === 'pool' ? poolOf(id, did !== 'nothing') : '';
    const key = `${pool}\n${labels.subject}\n${labels.did}\n${labels.reason}`;
    series.decisions.increase(key, () => ({ pool, ...labels }));
  }

  function followEnd({ poolName, end }: Session): void {
    const pool = poolLabels.ofActive(poolName);
    const how = end?.how ?? 'unknown';
    series.sessionsEnded.increase(`${how}\n${pool}`, () => ({ pool, how }));
  }

  function heard(change: Change): void {
    if (!('append' in change)) return;
    if (change.append === 'decisions') followDecision(change.row);
    if (change.append === 'ended') followEnd(change.row);
  }

  const stops = [
    store.onChange('sessions', (after, before) => {
      if (after?.placedAt === undefined || before?.placedAt !== undefined) return;
      const pool = poolLabels.ofActive(after.poolName);
      series.queueWait.observe(pool, () => ({ pool }), Math.max(0, after.placedAt - after.acceptedAt) / 1_000);
    }),
    store.onChange('workers', (after, before) => {
      if (after?.joinedAt === undefined || before?.joinedAt !== undefined || after.launch === undefined) return;
      const kind = store.view.offers.get(after.offer ?? '')?.kind ?? 'unknown';
      const pool = poolOf(after.pool, true);
      series.launch.observe(
        `${kind}\n${pool}`,
        () => ({ pool, kind }),
        Math.max(0, after.joinedAt - after.askedAt) / 1_000,
      );
    }),
    store.onDurable((changes) => {
      for (const change of changes) heard(change);
    }),
  ];

  return {
    cloudCall: ({ kind, call, fault, ms }) => series.cloud.observe({ kind, call, fault: fault ?? '' }, ms / 1_000),
    httpAnswered: ({ method, route, status, ms }) =>
      series.http.observe(`${method} ${status} ${route}`, () => ({ method, route, status }), ms / 1_000),
    followSyncs(timings) {
      syncTimes = timings;
    },
    followFeatures(started) {
      features = started;
    },
    describe: () =>
      (registry.getMetricsAsArray() as unknown as readonly DescribedMetric[]).map(
        ({ name, type, labelNames, help }) => ({
          name,
          type,
          labelNames,
          help,
        }),
      ),
    async text() {
      await gauges.refresh();
      ofProcess?.refresh();
      return scrapeText(registry, clock);
    },
    contentType: registry.contentType,
    stop() {
      for (const stop of stops) stop();
      poolLabels.stop();
      gauges.stop();
      ofProcess?.stop();
      registry.clear();
    },
  };
}

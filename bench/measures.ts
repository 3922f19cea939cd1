import { LAUNCH_MEASURES } from './launch-measures.ts';
import { SESSION_MEASURES } from './session-measures.ts';
import { type Measured, slowness, YARDSTICKS, type YardstickName } from './yardsticks.ts';

/** What is measured, in which unit, and what is good enough: the targets of the design, and no other place has them. */
export interface Measure {
  readonly what: string;
  readonly unit: 'ms' | 's' | '/s' | 'KB' | 'MB' | 'MB/s' | 'µs' | '%' | 'count' | 'x';
  readonly atMost?: number;
  readonly atLeast?: number;
  /** The target is for a machine as fast as the reference; on others it is as far above or below as this is. */
  readonly against?: YardstickName;
}

const measure = <T extends Readonly<Record<string, Measure>>>(measures: T): T => measures;

/** Those without a bound explain those that have one. */
export const MEASURES = measure({
  ...YARDSTICKS,
  'decision-p50': { what: 'demand to recorded decision, 10,000 pools and 100,000 workers', unit: 'ms' },
  'decision-p99': { what: 'the same', unit: 'ms', atMost: 50, against: 'machine-js' },
  'plan-rate': { what: 'decisions planned, a second of processor time; pools of 3 and of 200 workers', unit: '/s' },
  'replay-rate': { what: 'recorded decisions read, planned again and compared, the same', unit: '/s' },
  'replay-share': { what: 'the second as a share of the first', unit: 'x', atLeast: 0.8 },
  'reconcile-time': { what: 'full reconcile of the same', unit: 'ms', atMost: 500, against: 'machine-js' },
  'reconcile-cpu': { what: 'the same, in processor time of the loop alone', unit: 'ms' },
  'reconcile-stall': { what: 'longest event-loop stall meanwhile', unit: 'ms', atMost: 50, against: 'machine-js' },
  'reconcile-stall-cpu': { what: 'the same, in processor time of the loop alone', unit: 'ms' },
  'listing-stall': {
    what: 'longest stall while 100,000 listed machines are reviewed',
    unit: 'ms',
    atMost: 50,
    against: 'machine-js',
  },
  'listing-stall-cpu': { what: 'the same, in processor time of the loop alone', unit: 'ms' },
  'placement-rate': { what: 'session placements alone, in memory', unit: '/s', atLeast: 20_000, against: 'machine-js' },
  ...SESSION_MEASURES,
  'port-forward-up': { what: 'bytes to a session through a forwarded port', unit: 'MB/s' },
  'port-forward-down': { what: 'bytes from a session through a forwarded port', unit: 'MB/s' },
  'port-forward-up-share': { what: 'the first as a share of socat', unit: 'x', atLeast: 0.3 },
  'port-forward-down-share': { what: 'the second as a share of socat', unit: 'x', atLeast: 0.3 },
  'sync-plain': { what: 'muster run of the package to the start of its session, warm slot', unit: 'ms' },
  'sync-first': { what: 'the same with --sync of 1,000 new files, 10 MB', unit: 'ms' },
  'sync-first-rsync': { what: 'rsync -a of the same folder to a daemon on loopback', unit: 'ms' },
  'sync-first-share': { what: 'what --sync adds as a multiple of rsync', unit: 'x', atMost: 5 },
  'sync-first-whole-share': { what: 'muster run --sync as a multiple of rsync', unit: 'x' },
  'sync-again': { what: 'with --sync of the same files, unchanged', unit: 'ms' },
  'sync-again-rsync': { what: 'rsync -a of the same, unchanged', unit: 'ms' },
  'sync-again-share': { what: 'what --sync adds as a multiple of rsync', unit: 'x', atMost: 3 },
  'sync-again-whole-share': { what: 'muster run --sync as a multiple of rsync', unit: 'x' },
  'warm-session-p50': { what: 'HTTP request to process started, on a warm slot', unit: 'ms' },
  'warm-session-p99': { what: 'the same', unit: 'ms', atMost: 25, against: 'machine-wait' },
  'steady-heap': { what: 'heap after 100,000 more sessions, beside before; garbage collected', unit: 'MB', atMost: 4 },
  'steady-rss': { what: 'resident memory, the same', unit: 'MB', atMost: 32 },
  'steady-rows': { what: 'live rows left by them', unit: 'count', atMost: 0 },
  'steady-log': { what: 'lines of the log written for them', unit: 'KB', atMost: 4 },
  'steady-wal': { what: "SQLite's write-ahead log after them", unit: 'MB', atMost: 64 },
  'template-rate': { what: 'templates of the corpus rendered, a second of processor time', unit: '/s' },
  'template-rate-go': { what: 'the same by Go', unit: '/s' },
  'template-share': { what: "the first as a share of Go's", unit: 'x', atLeast: 0.5 },
  'template-longest': {
    what: 'the longest that one hostile template takes the thread, any function',
    unit: 'ms',
    atMost: 100,
    against: 'machine-js',
  },
  'memory-pool': { what: 'a pool with its document, offer and all that is remembered of it', unit: 'KB', atMost: 8 },
  'memory-pool-rows': { what: 'its rows alone', unit: 'KB' },
  'memory-worker': { what: 'a worker record in its table and indexes', unit: 'KB', atMost: 2 },
  'memory-worker-all': { what: 'a worker with its agent, its listed machine and what is remembered', unit: 'KB' },
  'memory-agent': { what: 'a connected agent, plain', unit: 'KB', atMost: 60 },
  'memory-agent-tls': { what: 'a connected agent, TLS in the process', unit: 'KB', atMost: 100 },
  'join-time': { what: '1,000 agents join a server that has none', unit: 's' },
  'join-cpu': { what: 'the same: processor time of the server', unit: 'ms' },
  'next-offer': { what: 'capacity fault to the call of the next offer', unit: 'ms', atMost: 1_000 },
  'launches-calls': { what: 'RunInstances for 1,000 workers asked at once', unit: 'count' },
  'launches-time': { what: 'asked to made, within the published limits of an account', unit: 's' },
  'launches-cpu': { what: 'processor time of that', unit: 'ms' },
  'launches-unaccounted': {
    what: 'machines without a worker, or workers without a machine, after that',
    unit: 'count',
    atMost: 0,
  },
  ...LAUNCH_MEASURES,
  'parameters-cold-calls': { what: 'requests for 10,000 parameters, all new', unit: 'count' },
  'parameters-cold-cpu': { what: 'processor time of that, pools made and durable', unit: 'ms' },
  'parameters-cold-time': { what: 'the same on the wall, nothing limited', unit: 's' },
  'parameters-unchanged-calls': { what: 'requests for the same, nothing changed', unit: 'count' },
  'parameters-unchanged-cpu': { what: 'processor time of that', unit: 'ms' },
  'parameters-unchanged-time': { what: 'the same on the wall, nothing limited', unit: 's' },
  'parameters-unchanged-paced': { what: 'the same within the published 40 requests a second', unit: 's' },
  'parameters-bare-cpu': { what: 'processor time of as many bare requests, neither signed nor read', unit: 'ms' },
  'parameters-unchanged-writes': { what: 'rows written by that', unit: 'count', atMost: 0 },
  'parameters-unchanged-woken': { what: 'pools woken by that', unit: 'count', atMost: 0 },
  'parameters-memory': { what: 'all that is kept of a parameter and its pool', unit: 'KB' },
  'gcs-cold-calls': { what: 'requests for 10,000 objects of a bucket, all new', unit: 'count' },
  'gcs-cold-cpu': { what: 'processor time of that, pools made and durable', unit: 'ms' },
  'gcs-cold-time': { what: 'the same on the wall, the simulated bucket beside us', unit: 's' },
  'gcs-unchanged-calls': { what: 'requests for the same, nothing changed', unit: 'count', atMost: 10 },
  'gcs-unchanged-cpu': { what: 'processor time of that', unit: 'ms', atMost: 100, against: 'machine-js' },
  'gcs-unchanged-time': { what: 'the same on the wall', unit: 's' },
  'gcs-unchanged-writes': { what: 'rows written by that', unit: 'count', atMost: 0 },
  'gcs-unchanged-woken': { what: 'pools woken by that', unit: 'count', atMost: 0 },
  'gcs-gcloud-cpu': { what: 'processor time of gcloud storage ls -l for the same objects', unit: 'ms' },
  'gcs-unchanged-share': { what: 'an unchanged sync as a share of that', unit: 'x', atMost: 0.2 },
  'reload-time': { what: 'a file of 10,000 pools read again, every pool changed and durable', unit: 's' },
  'reload-cpu': { what: 'the same, in processor time of the loop alone', unit: 'ms' },
  'reload-stall': { what: 'longest event-loop stall meanwhile', unit: 'ms', atMost: 50, against: 'machine-js' },
  'reload-stall-cpu': { what: 'the same, in processor time of the loop alone', unit: 'ms' },
  'restart-time': {
    what: 'start with 100,000 workers to the first right action',
    unit: 's',
    atMost: 8,
    against: 'machine-js',
  },
  'restart-wrong': { what: 'machines made twice, or deleted wrongly, after that', unit: 'count', atMost: 0 },
  'nodes-evaluate': {
    what: 'target size of 1,000 GPU nodes with 10,000 pods, 1,000 more wait: processor time',
    unit: 'ms',
    atMost: 50,
    against: 'machine-js',
  },
  'nodes-plan': {
    what: 'which of them can be emptied: processor time',
    unit: 'ms',
    atMost: 1_000,
    against: 'machine-js',
  },
  'nodes-plan-stall': {
    what: 'longest event-loop stall meanwhile, in processor time of the loop',
    unit: 'ms',
    atMost: 50,
    against: 'machine-js',
  },
  'nodes-memory': { what: 'resident memory for all that is kept of them', unit: 'MB', atMost: 60 },
  'takeover-time': { what: 'holder killed to a session accepted by the standby', unit: 's', atMost: 5 },
  'whatif-week': {
    what: 'muster whatif of a week of 10,000 sessions, reading included',
    unit: 'ms',
    atMost: 1_000,
    against: 'machine-js',
  },
  'whatif-stall': {
    what: 'longest event-loop stall while 20 viewers ask for it',
    unit: 'ms',
    atMost: 50,
    against: 'machine-js',
  },
  'whatif-stall-cpu': { what: 'the same, in processor time of the loop alone', unit: 'ms' },
  'simulated-day': { what: 'one simulated day of 1,000 pools', unit: 's', atMost: 20, against: 'machine-js' },
  'start-time': { what: 'server start to ready', unit: 's', atMost: 1.5, against: 'machine-js' },
  'start-memory': { what: 'resident memory of the idle server', unit: 'MB', atMost: 140 },
  'cli-cpu': {
    what: 'processor time of muster pool ls of the package',
    unit: 'ms',
    atMost: 250,
    against: 'machine-js',
  },
  'cli-cpu-kubectl': { what: 'processor time of kubectl version --client', unit: 'ms' },
  'rest-cpu': { what: 'the idle server at rest: share of one core', unit: '%', atMost: 0.3 },
  'rest-wakes': { what: 'the same: how often its threads wake', unit: '/s' },
  'runtime-grants': {
    what: 'durable grants of static runtimes by 64 callers, SQLite',
    unit: '/s',
    atLeast: 5_000,
    against: 'machine-js',
  },
  'runtime-grants-postgres': { what: 'the same, PostgreSQL', unit: '/s', atLeast: 3_000, against: 'machine-js' },
  'runtime-oversubscribed': { what: 'hosts with more grants than slots after that', unit: 'count', atMost: 0 },
  'runtime-grants-original': { what: "the original's statements by 64 clients, the same PostgreSQL", unit: '/s' },
  'runtime-oversubscribed-original': { what: 'hosts with more grants than slots after those', unit: 'count' },
  'runtime-objects-p99': {
    what: 'request for a runtime to its four objects applied, a real API server',
    unit: 'ms',
    atMost: 1_000,
  },
  'runtime-objects-kubectl-p99': { what: 'kubectl apply --server-side of the same files', unit: 'ms' },
  'runtime-objects-share': { what: 'the first as a share of the second', unit: 'x', atMost: 0.5 },
  'computer-exec': { what: 'request to exit code of a command on a computer, by the API', unit: 'ms' },
  'computer-exec-engine': { what: 'the same by exec of the Engine API', unit: 'ms' },
  'computer-exec-share': { what: 'the first as a share of the second', unit: 'x', atMost: 3 },
  'computer-create': { what: 'request to running of a computer on a Docker engine', unit: 'ms' },
  'computer-create-engine': { what: 'create, start and poll of the same agent by the Engine API', unit: 'ms' },
  'computer-create-share': { what: 'the first as a share of the second', unit: 'x', atMost: 1.5 },
  'image-unchanged': { what: 'muster image build docker of which nothing has changed, the whole command', unit: 'ms' },
  'image-unchanged-docker': { what: 'docker build of the same content, its cache warm', unit: 'ms' },
  'image-unchanged-share': { what: 'the first as a share of the second', unit: 'x' },
  'image-unchanged-calls': { what: 'calls to the engine for it, none of which builds', unit: 'count', atMost: 3 },
  'agent-memory-process': { what: 'resident memory of an idle local agent', unit: 'MB' },
  'dashboard-first-page': { what: 'the first page of the dashboard, packed, in kB of 1,000', unit: 'KB', atMost: 60 },
  'dashboard-chart': { what: 'what a page with a chart loads too', unit: 'KB' },
  'dashboard-terminal': { what: 'what a page with a terminal loads too', unit: 'KB' },
  'overview-size': { what: '/overview of 10,000 pools and 100,000 workers, unpacked', unit: 'KB', atMost: 20 },
  'overview-cpu': { what: 'processor time of the same', unit: 'ms', atMost: 5, against: 'machine-js' },
  'unseen-memory': { what: 'memory left of the dashboard when its last reader has gone', unit: 'MB', atMost: 1 },
  'series-share': { what: 'figures by the minute as a share of the simulated day', unit: '%', atMost: 5 },
  'series-memory': { what: 'an hour of them for a pool that changes each minute', unit: 'KB', atMost: 1.2 },
  'store-rows-1': { what: 'rows a second, 1 a commit', unit: '/s' },
  'store-rows-10': { what: 'the same, 10 a commit', unit: '/s' },
  'store-rows-100': { what: 'the same, 100 a commit', unit: '/s' },
  'store-rows-1000': { what: 'the same, 1,000 a commit', unit: '/s' },
});

export type MeasureName = keyof typeof MEASURES;

/** The target of the design, and the one on a machine with these yardsticks. */
export function targetOf(name: MeasureName, measured: Measured = {}): number | undefined {
  const { atMost, atLeast, against }: Measure = MEASURES[name];
  if (atMost !== undefined) return atMost * slowness(against, measured);
  return atLeast === undefined ? undefined : atLeast / slowness(against, measured);
}

/** How far a value is from its target: 1 is met exactly, less is better; undefined where the measure has no target. */
export function ratioOf(name: MeasureName, value: number, measured: Measured = {}): number | undefined {
  const { atMost }: Measure = MEASURES[name];
  const target = targetOf(name, measured);
  if (target === undefined || target === 0) return undefined;
  return atMost === undefined ? target / value : value / target;
}

/** Whether a value is good enough on a machine with these yardsticks; undefined where the measure has no target. */
export function isMet(name: MeasureName, value: number, measured: Measured = {}): boolean | undefined {
  const { atMost }: Measure = MEASURES[name];
  const target = targetOf(name, measured);
  if (target === undefined) return undefined;
  return atMost === undefined ? value >= target : value <= target;
}

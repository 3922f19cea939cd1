// Answers of the API for every page, each checked against its wire form.
import * as computer from '../../api/wire/computer.ts';
import { Decision, DecisionList } from '../../api/wire/decision.ts';
import { Event, EventList } from '../../api/wire/event.ts';
import * as node from '../../api/wire/node.ts';
import { Overview } from '../../api/wire/overview.ts';
import { PoolDocumentList } from '../../api/wire/plan.ts';
import { Plan, Pool, PoolList, Why } from '../../api/wire/pool.ts';
import { RuntimeList } from '../../api/wire/runtime.ts';
import type { Series } from '../../api/wire/series.ts';
import { SessionList } from '../../api/wire/session.ts';
import { Me } from '../../api/wire/token.ts';
import { WorkerList } from '../../api/wire/worker.ts';
import { imageAnswers } from './image-examples.ts';
import { NOW } from './now.ts';
import { serverAnswers } from './server-examples.ts';
import { sourceAnswers } from './source-examples.ts';

const at = NOW;

export const event = {
  id: 'e1',
  at,
  kind: 'pool.changed',
  subject: 'pool/gpu',
  pool: 'gpu',
  who: 'source:file',
  from: 'gpu.yaml',
  message: 'Changed by gpu.yaml.',
  fields: { changed: ['scaling.maxAgents'], version: 'v2' },
};

const decision = {
  id: 'd1',
  at,
  subject: 'pool/p-gpu',
  did: 'launch 2',
  reason: { code: 'queued' },
  why: '2 queued and 0 idle.',
  unless: 'a session ends',
  facts: { queued: 2, idle: 0, note: 'text of a fact' },
  alternatives: [{ what: 'offer b', why_not: 'it costs more', price_per_hour: 3.5 }],
  inputs: 'inputs as text',
  repeats: 2,
  last_at: at,
};

const phases = { launching: 1, booting: 0, idle: 1, busy: 2, draining: 0, lost: 0, parked: 0, deleting: 0 };

export const pool = Pool.parse({
  id: 'p-gpu',
  name: 'gpu',
  description: 'Training',
  phase: 'active',
  revision: 2,
  owner: { source: 'file', key: 'gpu.yaml', version: 'v2', team: 'ml' },
  created_at: at,
  changed_at: at,
  held: { at, why: 'all documents are gone', approve: 'muster source approve file' },
  frozen: { scope: 'gpu', at, why: 'machines are lost', by: 'muster', automatic: true, thaw: 'muster thaw gpu' },
  trouble: 'the quota is used up',
  warnings: ['idle_decay has no effect'],
  agent_auth: 'token',
  agent_networks: [],
  labels: { gpu: 'h100' },
  drain_timeout: '5m',
  auto_scaler: {
    mode: 'standard',
    min_agents: 1,
    max_agents: 8,
    min_idle_agents: 0,
    max_idle_agents: 1,
    idle_decay: '1m',
    sync_loop_interval: '5s',
    kill_unknown_after: '10m',
    default_slots_per_agent: 1,
    scale_up_error_retry_delay: '1m',
    allocation_error_reset_after: '1h',
    boot_timeout: '10m',
  },
  update_policy: 'keep',
  backends: [{ id: 'o1', kind: 'process', config: { plain: 'shown' }, price_per_hour: 1.25 }],
  dollars_per_hour: 2.5,
  machines_without_price: 1,
  workers: { total: 4, ...phases },
  slots: { total: 3, free: 1 },
  sessions: { queued: 2, placed: 2 },
});

const worker = {
  name: 'm-gpu-1',
  pool: 'gpu',
  phase: 'busy',
  machine: 'i-123',
  backend: 'process',
  launch: 'l1',
  asked_at: at,
  created_at: at,
  joined_at: at,
  waits: 'its machine boots',
  drain: { at, why: 'asked by ada' },
  agent: {
    slots: 1,
    free_slots: 0,
    labels: { gpu: 'h100' },
    wire: 'muster',
    version: '1.0.0',
    hostname: 'host',
    address: '10.0.0.1',
    connected_at: at,
  },
  sessions: ['s1'],
  unknown_sessions: ['s9'],
};

const session = {
  id: 's1',
  name: 'train',
  pool: 'gpu',
  phase: 'running',
  why: 'no worker offers its labels',
  command: ['python', 'train.py', 'a word'],
  env_names: ['A'],
  terminal: false,
  stdin: false,
  priority: 0,
  labels: {},
  grace: '10s',
  retries: 0,
  accepted_at: at,
  by: 'ada',
  attempt: 1,
  worker: 'm-gpu-1',
  placed_at: at,
  started_at: at,
};

const computerRow = {
  name: 'box',
  id: 'c1',
  platform: 'docker',
  status: 'running',
  why: 'ready',
  by: 'ada',
  created_at: at,
  running_at: at,
  ends_at: at,
  endpoints: [{ host: '10.0.0.7', port: 8080 }],
  agent: true,
  failure: { kind: 'quota', message: 'no room', remedy: 'ask for more', at },
};

const runtime = {
  id: 'web',
  provisioner: 'main',
  slots: 2,
  running_version: 'v7',
  environment: 'prod',
  annotations: { team: 'shop' },
  phase: 'ready',
  since: at,
  why: 'all is well',
  created_at: at,
};

const nodePool = {
  name: 'h100',
  ready: true,
  reason: 'Ready',
  message: 'All nodes are as wanted.',
  nodes: 2,
  target: 2,
  ready_nodes: 2,
  starting_nodes: 0,
  idle_nodes: 0,
  gpus: 16,
  gpus_requested: 9,
  utilization_percent: 56,
  pending_pods: 1,
  unfit_pods: 0,
  late_rotations: 0,
  groups: [{ name: 'zone-a', size: 2, backoff_until: at, last_error: 'no capacity' }],
  unknown_machines: ['gce-1'],
};
const nodes = [
  { name: 'node-1', phase: 'ready', group: 'zone-a', gpus: 8, gpus_requested: 8, pods: 3, why: 'busy' },
  { name: 'node-2', phase: 'tainted', gpus: 8, gpus_requested: 1, pods: 1, deletion_at: at, ends_at: at, why: 'idle' },
];

export const series: Series = {
  step_ms: 60_000,
  points: [0, 1, 2].map((minute) => ({
    at: new Date(Date.parse(at) - (2 - minute) * 60_000).toISOString(),
    queued: minute,
    busy: 2,
    idle: 1,
    starting: 0,
    wanted: 3,
    dollars: 2.5,
  })),
};

const NONE = { items: [] };
const pools = PoolList.parse({ items: [pool] });
const sessions = SessionList.parse({ items: [session] });
const workers = WorkerList.parse({ items: [worker] });

/** By path below `/api/v1`, without its query. */
export const ANSWERS: Readonly<Record<string, unknown>> = {
  '/me': Me.parse({ name: 'ada', who: 'token:ada', role: 'operator', is_cookie: true }),
  '/overview': Overview.parse({
    at,
    problems: [
      {
        id: 'x1',
        subject: 'pool/gpu',
        what: 'cannot launch: the quota is used up',
        since: at,
        remedy: 'Raise it.',
        waiting_sessions: 14,
        link: '/pools/gpu',
      },
    ],
    more_problems: 3,
    workers: { total: 4, busy: 2, idle: 1, starting: 1, draining: 0, lost: 0, parked: 0, deleting: 0 },
    sessions: { queued: 2, running: 2, unknown: 1 },
    longest_wait_ms: 192_000,
    dollars_per_hour: 918,
    machines_without_price: 6,
    pools: { total: 1, active: 1, manual: 0, paused: 0, removing: 0 },
    sources: { total: 2, in_error: 1, with_refused_documents: 1 },
    computers: { total: 1, in_error: 0 },
    runtimes: { total: 1, in_error: 0 },
    nodes: { total: 1, in_error: 0 },
    images: { total: 1 },
    events: [event],
  }),
  '/series': series,
  '/pools': pools,
  '/pools/gpu': pool,
  '/pools/gpu/series': series,
  '/pools/gpu/why': Why.parse({
    pool: 'gpu',
    phase: 'active',
    counts: { queued: 2, idle: 1, starting: 1 },
    starting: [{ worker: 'm-gpu-2', since: at, waits: 'its machine boots' }],
    unmatched: { sessions: 1, labels: ['zone=a'] },
    decisions: [decision],
  }),
  '/pools/gpu/plan': Plan.parse({
    pool: 'gpu',
    why: 'all is well',
    unless: 'a session comes',
    actions: [],
    figures: {},
  }),
  '/decisions': DecisionList.parse({ items: [decision] }),
  '/decisions/d1': Decision.parse({ ...decision, pool: 'gpu' }),
  '/events': EventList.parse({ items: [event] }),
  '/events/e1': Event.parse(event),
  '/pool-documents': PoolDocumentList.parse({
    items: [
      {
        name: 'gpu',
        source: 'file',
        key: 'gpu.yaml',
        document: { name: 'gpu', auto_scaler: { max_agents: 8, note: 'a text' } },
        left_out: ['auto_scaler.backend.process.api_token'],
        refused_elsewhere: [],
      },
    ],
  }),
  '/workers': workers,
  '/workers/m-gpu-1': workers.items[0],
  '/sessions': sessions,
  '/sessions/s1': sessions.items[0],
  '/computers': computer.ComputerList.parse({ items: [computerRow] }),
  '/computers/box': computer.Computer.parse(computerRow),
  '/computers/box/why': computer.ComputerWhy.parse({
    computer: computerRow,
    waits: 'its machine boots',
    machine: { name: 'm-box', asked_at: at, state: 'running', trouble: 'slow disk' },
    refusals: 1,
    max_retries: 3,
    refused: { kind: 'quota', message: 'no room', remedy: 'ask', at, retry_at: at },
    timeout: '10m',
    frozen: true,
    events: [event],
  }),
  '/runtimes': RuntimeList.parse({ items: [runtime] }),
  '/runtimes/web': RuntimeList.parse({ items: [runtime] }).items[0],
  ...sourceAnswers,
  ...imageAnswers,
  ...serverAnswers,
  '/node-provisioners': node.NodePoolList.parse({ items: [nodePool] }),
  '/node-provisioners/h100': node.NodePoolDetail.parse({ provisioner: nodePool, nodes }),
  '/node-provisioners/h100/plan': node.NodePlan.parse({
    name: 'h100',
    target: 2,
    did: 'nothing',
    why: 'enough nodes',
    unless: 'a pod comes',
    reason: 'enough',
    alternatives: [{ what: 'zone-b', why_not: 'no capacity' }],
  }),
  '/node-provisioners/h100/defragmentation': node.Defragmentation.parse({
    name: 'h100',
    mode: 'plan',
    message: 'Shown only.',
    nodes: [
      {
        name: 'node-2',
        gpus: 8,
        gpus_requested: 1,
        price_per_hour: 20,
        when: 'later',
        moves: [{ pod: 'ml/train', to: 'node-1', gpus: 1 }],
      },
    ],
    evictions: 1,
    saved_per_hour: 20,
    kept: [{ node: 'node-1', why: 'it is full' }],
  }),
};

/** The same with nothing in any list. */
export const EMPTY_ANSWERS: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(ANSWERS).map(([path, answer]) => [
    path,
    typeof answer === 'object' && answer !== null && 'items' in answer ? NONE : answer,
  ]),
);

/** What stands for the names in the paths of pages. */
export const NAMES: Readonly<Record<string, string>> = {
  '/pools/:name': 'gpu',
  '/workers/:name': 'm-gpu-1',
  '/computers/:name': 'box',
  '/runtimes/:id': 'web',
  '/nodes/:name': 'h100',
  '/sources/:id': 'teams',
  '/images/builds/:id': 'b1',
  '/sessions/:id': 's1',
  '/events/:id': 'e1',
  '/decisions/:id': 'd1',
};

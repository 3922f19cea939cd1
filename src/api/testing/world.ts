import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import type { Role } from '#core/access.ts';
import { DEFAULT_FILE_LIMITS } from '#core/file.ts';
import type { Level } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { append, type Change } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openAccess } from '../../access/access.ts';
import { openConnections } from '../../edge/open-connections.ts';
import { openFiles } from '../../files/files.ts';
import { contentsInMemory } from '../../files/in-memory.ts';
import { startSeries } from '../../journal/series.ts';
import { type Disk, emptyDisk, memoryDriver } from '../../store/memory.ts';
import { openStore } from '../../store/store.ts';
import { startApi } from '../app.ts';
import type { ClientTimeouts } from '../connections.ts';
import type { ApiDeps } from '../deps.ts';
import { openMetrics } from '../metrics.ts';
import { fakePools, fakeSessions, fakeWorkers } from './features.ts';

const AGENT = Buffer.from('an agent');
const HOSTS = ['muster.example.org', '10.9.8.7', 'fd00::7'];

export interface WorldOptions {
  readonly rows?: readonly Change[];
  /** May wait (a slow disk) or reject (a broken one). */
  readonly beforeWrite?: (changes: readonly Change[]) => Promise<void>;
  readonly clock?: VirtualClock;
  readonly over?: Partial<ApiDeps>;
  readonly timeouts?: ClientTimeouts;
}

const agentFiles: ApiDeps['agentFiles'] = {
  installScript: async (origin) => `#!/bin/sh\n# ${origin}\n`,
  async find(name) {
    if (name !== 'muster-agent-linux-x64.tgz') return undefined;
    return {
      bytes: AGENT.length,
      sha256: 'ab'.repeat(32),
      mediaType: 'application/gzip',
      open: () => Readable.from([AGENT]),
    };
  },
};

const packed = (mediaType: string, text: string) => ({ mediaType, gzipped: gzipSync(text) });
const WEB_FILES = new Map([
  ['index.html', packed('text/html', '<!doctype html><script type="module" src="/assets/main-ABC.js"></script>')],
  ['main-ABC.js', packed('text/javascript', 'document.title = "Muster";')],
]);
const webFiles: ApiDeps['webFiles'] = { find: async (name) => WEB_FILES.get(name) };

async function openDeps(options: WorldOptions, disk: Disk) {
  const { clock = new VirtualClock() } = options;
  const random = seededRandom(1);
  const lines: { level: Level; message: string; fields: unknown }[] = [];
  const store = await openStore(memoryDriver(disk, options.beforeWrite), () => {});
  const log: ApiDeps['log'] = (level, message, fields) => void lines.push({ level, message, fields });
  let events = 0;
  const event = (what: { kind: string; subject: string; message: string }, actor = { who: 'muster', from: 'itself' }) =>
    append('events', { id: `e${events++}`, at: clock.now(), ...actor, ...what });
  const access = await openAccess({ store, clock, random, log, event });
  const means = { store, clock, random };
  const sessions = fakeSessions(means);
  const pools = fakePools(means);
  const deps: ApiDeps = {
    ...means,
    log,
    access,
    pools,
    sessions,
    workers: fakeWorkers(means),
    files: openFiles({ ...means, log, contents: contentsInMemory(), limits: DEFAULT_FILE_LIMITS }),
    features: {},
    journal: { lastDecision: () => undefined },
    series: startSeries({ store, clock, wanted: () => undefined }),
    agentFiles,
    webFiles,
    metrics: openMetrics({ ...means, build: { version: '0.0.0-test', commit: 'abc' } }),
    server: {
      version: '0.1.0',
      pid: 42,
      storeKind: 'memory',
      startedAt: clock.now(),
      addresses: () => ({ http: '127.0.0.1:8081', grpc: '127.0.0.1:50051' }),
      hosts: () => HOSTS,
      whyNotReady: () => undefined,
    },
    dataDir: tmpdir(),
    redactConfig: (_kind, config) => ({ ...config, apiToken: '[hidden]' }),
    hasPrices: (kind) => kind === 'priced',
    documents: {
      write: ({ name, scaling, labels }) => ({
        document: { name, labels, auto_scaler: { max_agents: scaling.maxAgents } },
        leftOut: ['auto_scaler.backend.process.api_token'],
      }),
      check() {},
      refusedElsewhere: () => ['auto_scaler.backend.process: planted-secret'],
      whole: ({ name, scaling, labels, offers }) => ({
        name,
        labels,
        auto_scaler: { max_agents: scaling.maxAgents, backend: { process: offers[0]?.config } },
      }),
    },
    connections: openConnections({ mostOfAddress: 256, trustedProxies: ['10.9.0.0/16'], clock, log }),
    requestsPerToken: 1_000,
    redactText: (text) => text.replaceAll('planted-secret', '[hidden]'),
    ...options.over,
  };
  return { deps, sessions, pools, lines, clock };
}

/** The API on a store in memory, with small features behind it and a token for each role. */
export async function apiWorld(options: WorldOptions = {}) {
  const disk = emptyDisk();
  const opened = await openDeps(options, disk);
  const { deps } = opened;
  const api = await startApi(deps, options.timeouts);
  const SELF = { who: 'test', from: 'here' };
  const tokens = {} as Record<Role, string>;
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    tokens[role] = (await deps.access.createToken({ name: role, use: { role } }, SELF)).text;
  }
  if (options.rows) await deps.store.commit(options.rows);
  const call = (method: InjectOptions['method'], url: string, more: InjectOptions & { as?: Role | undefined } = {}) => {
    const { as = 'admin', headers, ...rest } = more;
    const authorization = `Bearer ${tokens[as]}`;
    return api.app.inject({
      method: method ?? 'GET',
      url,
      ...rest,
      headers: { host: 'localhost', authorization, ...headers },
    });
  };
  return { ...opened, api, disk, tokens, call };
}

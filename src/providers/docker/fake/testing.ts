// How tests get at the fake engine.

import { launchNames } from '#core/id.ts';
import { AGENT_IMAGE } from '#core/image-builder.ts';
import type { Backend, Context, Launch } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { SliceCloud, SliceMachine } from '#sim/slice/cloud.ts';
import { contextWithLog } from '../../../conformance/backend-world.ts';
import type { SliceSuite } from '../../../conformance/slice-world.ts';
import { openContainers } from '../backend.ts';
import { DockerConfig } from '../config.ts';
import docker from '../index.ts';
import { markIn, workerIn } from '../marks.ts';
import { type FakeContainer, nextChangeMs, stateAt, upAtMs } from './container.ts';
import { type FakeEngine, type FakeEngineOptions, openFakeEngine } from './engine.ts';

export const CLUSTER = 'cluster1';
export const IMAGE = 'muster/agent';
export const going = (): AbortSignal => new AbortController().signal;

export interface Scene {
  readonly clock: VirtualClock;
  readonly fake: FakeEngine;
  readonly lines: string[];
  /** A process of its own for each. */
  contextFor(cluster?: string, variables?: Readonly<Record<string, string>>): Context;
  during<T>(call: Promise<T>): Promise<T>;
}

/** An engine with the image of the agent. */
export function openScene(options: Partial<FakeEngineOptions> = {}): Scene {
  const clock = new VirtualClock();
  const fake = openFakeEngine({ clock, ...options });
  fake.images.build(IMAGE);
  const lines: string[] = [];
  return {
    clock,
    fake,
    lines,
    contextFor(cluster = CLUSTER, variables = {}) {
      const parts = {
        cluster,
        clock,
        random: seededRandom(2),
        fetch: fake.fetch,
        dataDir: '/nowhere',
        agentCommand: [],
      };
      return contextWithLog({ ...parts, variable: (name) => variables[name] }, lines);
    },
    during: (call) => during(clock, call),
  };
}

export function openBackend(scene: Scene, config: object = {}, context = scene.contextFor()): Promise<Backend> {
  return scene.during(openContainers(DockerConfig.parse({ image: IMAGE, ...config }), context));
}

/** A launch as the program makes it. */
export function aBatch(count: number, { id = 'launch1', broker = 'https://muster.example:50051' } = {}): Launch {
  return {
    id,
    mark: { cluster: CLUSTER, use: 'worker', owner: 'pool1', shape: 'shape1' },
    names: launchNames({ name: 'dev', id: 'p1' }, count, seededRandom(3)),
    boot: { agentConfig: `broker:\n  address: ${broker}\npool: dev\n`, token: 'mlt_secret' },
    askedAt: 0,
  };
}

const isThere = (container: FakeContainer, nowMs: number): boolean =>
  ['created', 'running'].includes(stateAt(container, nowMs));

export const existing = ({ fake, clock }: Scene): string[] =>
  fake.containers.filter((one) => isThere(one, clock.now())).map(({ name }) => name);

/** What a connection from the machine of the engine reaches, and which port of it. */
export function reached({ fake, clock }: Scene, { host, port }: { readonly host: string; readonly port: number }) {
  const running = fake.containers.filter((one) => stateAt(one, clock.now()) === 'running');
  for (const { name, hostConfig, ports, labels } of running) {
    const isOnHost = hostConfig.NetworkMode === 'host' && host === '127.0.0.1';
    if (isOnHost && labels['io.muster.port'] === String(port)) return { name, port };
    const bound = ports.find(({ IP, PublicPort }) => PublicPort === port && (IP === host || IP === '0.0.0.0'));
    if (bound) return { name, port: bound.PrivatePort };
  }
  return undefined;
}

function machineOf(container: FakeContainer, { die }: Pick<FakeEngine, 'die'>): SliceMachine {
  return {
    id: container.id,
    name: workerIn(container.labels) ?? container.name,
    mark: markIn(container.labels),
    state(nowMs) {
      const state = stateAt(container, nowMs);
      if (state === 'exited' || state === 'gone') return 'gone';
      return state === 'running' && nowMs >= (upAtMs(container) ?? 0) ? 'running' : 'off';
    },
    nextChangeMs: (nowMs) => nextChangeMs(container, nowMs),
    scripts: () => [...container.files.values()],
    exists: (nowMs) => isThere(container, nowMs),
    // An agent that came to its end leaves with success, and is not started again.
    poweredOff: () => die(container, 0),
  };
}

/** Containers of others on the engine, some with a part of our mark. */
function addForeign(fake: FakeEngine, cluster: string): string[] {
  const most = { 'io.muster.use': 'worker', 'io.muster.owner': 'p', 'io.muster.shape': 's' };
  const labelSets = [
    {},
    { app: 'velda' },
    most,
    { ...most, 'io.muster.cluster': 'cluster9' },
    { 'io.muster.cluster': cluster },
  ];
  return labelSets.map((labels, at) => fake.run(`by-hand-${at}`, labels).id);
}

// Documents of others may not name this kind; the slice is about what the operator's own do.
const TRUSTED = { ...docker, backends: { docker: { ...docker.backends.docker, trust: 'any source' as const } } };

/** The engine behind a world of the slice. */
export const fakesOf = new WeakMap<object, FakeEngine>();

export const DOCKER_SLICE: SliceSuite = {
  provider: TRUSTED,
  backend: { kind: 'docker', config: { image: IMAGE } },
  // An engine lists what it has: no page, no lag and no limit of its own.
  openCloud({ clock, bootMs }) {
    const fake = openFakeEngine({ clock, bootMs });
    for (const image of [IMAGE, AGENT_IMAGE]) fake.images.build(image);
    const cloud: SliceCloud = {
      fake,
      machines: () => fake.containers.map((container) => machineOf(container, fake)),
      watch: (changed) => void fake.watch((container) => changed(machineOf(container, fake))),
      addForeign: async (cluster) => addForeign(fake, cluster),
      refuseLate: fake.refuseLate,
    };
    fakesOf.set(cloud, fake);
    return cloud;
  },
  async load() {
    await import('../backend.ts');
  },
  creation: 'create',
  removals: ['delete', 'stop'],
  mostCalls: { creation: 1_000, removal: 1_000 },
  mostDocuments: 1_000,
  laterPage: { action: 'list', what: { kind: 'error', code: 'server error', message: 'server error', status: 500 } },
  denied: { kind: 'error', code: 'denied', message: 'authorization denied by plugin opa', status: 403 },
  named: 'unix:///var/run/docker.sock',
  excuses: { boots: 'the image of its containers brings the agent' },
};

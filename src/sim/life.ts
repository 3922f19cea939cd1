// One life of the server: the real composition, on a disk and among clouds and agents that outlive it.

import type { AgentLink } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Backend, Launch, Machine } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import type { Change, Store } from '#core/store.ts';
import { makeRedactor } from '#journal/redact.ts';
import { type Plane, startPlane } from '#program/plane.ts';
import type { Driver } from '#store/driver.ts';
import { type Disk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import type { SimCloud } from './backend.ts';
import type { Definitions } from './definitions.ts';
import type { EndedByKey } from './ended-by-key.ts';
import { SIM_KINDS, type SimContext } from './kinds.ts';
import { processClock } from './process-clock.ts';

export interface Life {
  readonly store: Store;
  readonly plane: Plane;
}

/** Who looks on, and who may replace a part by a broken one. */
export interface LifeHooks {
  /** Decides what becomes of a write: it may wait, fail, or never return. */
  writing(changes: readonly Change[], write: () => Promise<void>): Promise<void>;
  written(changes: readonly Change[]): void;
  /** Right before they are applied to memory. */
  committing(changes: readonly Change[]): void;
  creating(launch: Launch): void;
  deleting(machines: readonly Machine[]): void;
  opened(store: Store): void;
  fatal(fault: Fault): void;
  /** A pool was looked at. */
  passed(): void;
  wrapBackend?(backend: Backend): Backend;
  wrapDriver?(driver: Driver): Driver;
}

export interface LifeOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly disk: Disk;
  readonly ended: EndedByKey;
  readonly regions: ReadonlyMap<string, SimCloud>;
  readonly definitions: Definitions;
  readonly link: AgentLink;
  readonly hooks: LifeHooks;
  isAlive(): boolean;
}

// Old enough for a repeated request, and short, since simulated days leave millions of rows.
const RETENTION = { events: HOUR_MS, decisions: HOUR_MS, ended: 2 * HOUR_MS, output: HOUR_MS };
const AGENT_LEASE_MS = 30 * 60_000;

const never = (): Promise<never> => new Promise(() => {});

function processDriver({ disk, ended, hooks, isAlive }: LifeOptions): Driver {
  const driver = memoryDriver(disk);
  const own: Driver = {
    ...driver,
    history: ended.over(driver.history),
    async write(changes) {
      if (!isAlive()) return never();
      await hooks.writing(changes, () => {
        if (!isAlive()) return never();
        // Before the disk has them, so that a look at the disk finds the books in step with it.
        ended.written(changes);
        hooks.written(changes);
        return driver.write(changes);
      });
      if (!isAlive()) await never();
    },
  };
  return hooks.wrapDriver?.(own) ?? own;
}

function watched({ hooks, isAlive }: LifeOptions, backend: Backend): Backend {
  return {
    ...backend,
    create(launch, signal) {
      if (isAlive()) hooks.creating(launch);
      return backend.create(launch, signal);
    },
    delete(machines, signal) {
      if (isAlive()) hooks.deleting(machines);
      return backend.delete(machines, signal);
    },
  };
}

/** Nothing of a dead server reaches an agent any more. */
function processLink({ link, isAlive }: LifeOptions): AgentLink {
  return {
    send: (agent, command) => isAlive() && link.send(agent, command),
    dismiss(agent, why) {
      if (isAlive()) link.dismiss(agent, why);
    },
  };
}

/** Every pass looks at all workers of its pool. */
function heard(store: Store, { passed, committing }: LifeHooks): Store {
  const by: Store['view']['workers']['by'] = (index, key) => {
    if (index === 'pool') passed();
    return store.view.workers.by(index, key);
  };
  const workers = Object.create(store.view.workers, { by: { value: by } }) as Store['view']['workers'];
  return {
    ...store,
    view: { ...store.view, workers },
    commit(changes) {
      committing(changes);
      return store.commit(changes);
    },
  };
}

export async function startLife(options: LifeOptions): Promise<Life> {
  const { random, hooks, isAlive, regions, definitions } = options;
  const log = silentLog;
  const clock = processClock(options.clock, isAlive);
  const opened = await openStore(processDriver(options), hooks.fatal);
  const store = heard(opened, hooks);
  hooks.opened(opened);
  const context: SimContext = {
    cluster: store.cluster,
    clock,
    random,
    log,
    fetch: () => Promise.reject(new Fault('unsupported', 'A simulated world has no network.')),
    shared: openShared(),
    dataDir: '/nowhere',
    agentCommand: [],
    openRegion(name) {
      const backend = regions.get(name)?.backend(isAlive);
      return backend && watched(options, hooks.wrapBackend?.(backend) ?? backend);
    },
  };
  const plane = await startPlane({
    store,
    clock,
    random,
    log,
    redactor: makeRedactor(),
    kinds: SIM_KINDS,
    context,
    link: processLink(options),
    sources: definitions.open(isAlive),
    retention: RETENTION,
    agentConfig: ({ name, slots }) => JSON.stringify({ pool: name, slots, leaseMs: AGENT_LEASE_MS }),
  });
  return { store, plane };
}

// The server of a seeded world as its laws and figures watch it: each commit, call and message, right when it happens.
import { HOUR_MS } from '#core/clock.ts';
import type { Backend } from '#core/provider.ts';
import type { Change, Store } from '#core/store.ts';
import type { Driver } from '#store/driver.ts';
import type { Definitions } from './definitions.ts';
import { indexEnded } from './ended-by-key.ts';
import { SIM_KINDS, type SimContext } from './kinds.ts';
import type { Laws } from './laws/laws.ts';
import type { Load } from './load.ts';
import { countReplacement, countRequiredEvents } from './required-events.ts';
import type { ServerHooks } from './server.ts';
import type { WorldState } from './world-state.ts';

/** Broken parts, for the tests of the invariants. */
export interface Sabotage {
  wrapBackend?(backend: Backend): Backend;
  wrapDriver?(driver: Driver): Driver;
}

export interface WatchedServerOptions extends WorldState {
  readonly definitions: Definitions;
  readonly load: Load;
  readonly laws: Laws;
  readonly sabotage: Sabotage;
  /** Every record is kept as long as by default. */
  readonly keepsHistory?: boolean | undefined;
}

const SHORTEST_DOWN_MS = 1_000;
const LONGEST_DOWN_MS = 45_000;
// Old enough for a repeated request, and short, since simulated days leave millions of rows.
const RETENTION = { events: HOUR_MS, decisions: HOUR_MS, ended: 2 * HOUR_MS, output: HOUR_MS };
const AGENT_LEASE_MS = 30 * 60_000;

export function watchedServer(options: WatchedServerOptions): ServerHooks {
  const { figures, eventLog, disk, regions, definitions, load, laws, sabotage } = options;
  const ended = indexEnded();
  const downtime = options.chance('down');

  function watched(backend: Backend, isAlive: () => boolean): Backend {
    const broken = sabotage.wrapBackend?.(backend) ?? backend;
    return {
      ...broken,
      create(launch, signal) {
        if (isAlive()) {
          eventLog.note('create', launch.names.join(' '));
          laws.durability.creating(launch);
        }
        return broken.create(launch, signal);
      },
      delete(machines, signal) {
        if (isAlive()) {
          eventLog.note('delete', machines.map(({ name }) => name).join(' '));
          laws.durability.deleting(machines);
          laws.machines.deleting(machines);
        }
        return broken.delete(machines, signal);
      },
    };
  }

  function note(change: Change): void {
    if (!('append' in change)) return;
    if (change.append === 'events') {
      eventLog.note(change.row.kind, change.row);
      figures.events.set(change.row.kind, (figures.events.get(change.row.kind) ?? 0) + 1);
    }
    if (change.append !== 'decisions') return;
    const did = change.row.did.replace(/ \d+/g, '');
    figures.decisions.set(did, (figures.decisions.get(did) ?? 0) + 1);
  }

  return {
    random: (life) => options.chance('life', life).random,
    downMs: () => downtime.ms(SHORTEST_DOWN_MS, LONGEST_DOWN_MS),
    compose({ context, isAlive }) {
      const simContext: SimContext = {
        ...context,
        openRegion(name) {
          const backend = regions.get(name)?.backend(isAlive);
          return backend && watched(backend, isAlive);
        },
      };
      return {
        kinds: SIM_KINDS,
        context: simContext,
        sources: definitions.open(isAlive),
        retention: options.keepsHistory ? {} : RETENTION,
        agentConfig: ({ name, slots }) => JSON.stringify({ pool: name, slots, leaseMs: AGENT_LEASE_MS }),
      };
    },
    wrapDriver(driver) {
      const own = { ...driver, history: ended.over(driver.history) };
      return sabotage.wrapDriver?.(own) ?? own;
    },
    wrapStore(store, isAlive) {
      laws.watch(store, isAlive);
      countRequiredEvents(store, figures.requiredEvents, isAlive);
      return heard(store, {
        passed: () => {
          figures.passes += 1;
        },
        committing(changes) {
          if (!isAlive()) return;
          laws.committing(changes);
          for (const change of changes)
            if ('append' in change && change.append === 'decisions')
              countReplacement(change.row, figures.requiredEvents);
        },
      });
    },
    written(changes) {
      ended.written(changes);
      laws.written(changes);
      for (const change of changes) note(change);
    },
    sending: (agent, command) => laws.durability.sending(agent, command),
    joined: (agent) => laws.durability.joined(agent),
    starting: () => eventLog.note('server starts', `life ${disk.epoch + 1}`),
    started: ({ sessions }) => load.open(sessions),
    crashed(why) {
      figures.crashes += 1;
      eventLog.note('server died', why);
    },
    ended: () => load.shut(),
  };
}

interface StoreWatcher {
  passed(): void;
  committing(changes: readonly Change[]): void;
}

/** Every pass looks at all workers of its pool. */
function heard(store: Store, { passed, committing }: StoreWatcher): Store {
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

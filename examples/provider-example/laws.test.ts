import { testBackend } from 'muster/src/conformance/backend.ts';
import { type BackendWorld, contextWithLog } from 'muster/src/conformance/backend-world.ts';
import { testSource } from 'muster/src/conformance/source.ts';
import type { SourceWorld } from 'muster/src/conformance/source-world.ts';
import { systemClock } from 'muster/src/core/clock.ts';
import type { FaultKind } from 'muster/src/core/fault.ts';
import { systemRandom } from 'muster/src/core/random.ts';
import { openDepot, PAGE } from './depot.ts';
import provider from './index.ts';

const { depot_machine } = provider.backends;
const { depot_pools } = provider.sources;
const url = 'http://depot.internal';

/** How the depot says it. */
const WORDS: Readonly<Partial<Record<FaultKind, string>>> = {
  unauthenticated: 'unknown_token',
  denied: 'not_allowed',
  exhausted: 'out_of_stock',
  quota: 'over_limit',
  throttled: 'too_fast',
};
const faults = Object.keys(WORDS) as FaultKind[];

/** A depot of its own for each law, and what both suites do to it. */
function openScene() {
  const depot = openDepot();
  const lines: string[] = [];
  const parts = { clock: systemClock, random: systemRandom, fetch: depot.fetch, dataDir: '/nowhere', agentCommand: [] };
  const contextOf = (cluster: string) => contextWithLog({ cluster, ...parts }, lines);
  const next = (failureRule: typeof depot.failureRules): void => void Object.assign(depot.failureRules, failureRule);
  const both = {
    during: <T>(call: Promise<T>): Promise<T> => call,
    logged: () => lines.join('\n'),
    hang: () => next({ hang: true }),
    close: async () => {},
  };
  return { depot, contextOf, next, both };
}

async function openCloud(): Promise<BackendWorld> {
  const { depot, contextOf, next, both } = openScene();
  return {
    ...both,
    open: (cluster) => depot_machine.open(depot_machine.config.parse({ url }), contextOf(cluster)),
    existing: async () => [...depot.machines.keys()],
    settle: async () => {},
    loseReply: () => next({ loseReply: true }),
    breakListing: () => next({ breakListing: true }),
    hideFromListings: () => next({ hideMachines: true }),
    fail: (kind) => next({ error: WORDS[kind] }),
    failLate: () => next({ failLate: 1 }),
  };
}

async function openPlace(): Promise<SourceWorld> {
  const { depot, contextOf, next, both } = openScene();
  return {
    ...both,
    open: () => depot_pools.open(depot_pools.config.parse({ url }), contextOf('cluster1')),
    async write(name, text) {
      depot.keep(name, text);
      return name;
    },
    remove: async (name) => void depot.pools.delete(name),
    spoil: async (name) => void depot.sealed.add(name),
    breakListing: async () => next({ breakListing: true }),
    fail: async (kind) => next({ error: WORDS[kind] }),
  };
}

const many = PAGE * 2 + 1;
testBackend('depot_machine', { kind: depot_machine, openWorld: openCloud, many, faults });
testSource('depot_pools', { kind: depot_pools, openWorld: openPlace, many, faults });

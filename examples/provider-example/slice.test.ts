import { testSlice } from 'muster/src/conformance/slice.ts';
import type { Mark } from 'muster/src/core/provider.ts';
import { openAnswering, type RecordedCall } from 'muster/src/fakes/answering.ts';
import type { WireCall } from 'muster/src/fakes/failure-rules.ts';
import { refusal } from 'muster/src/fakes/refusal.ts';
import type { SliceCloudOptions, SliceMachine } from 'muster/src/sim/slice/cloud.ts';
import { type Lent, openDepot } from './depot.ts';
import provider from './index.ts';

interface Asked extends WireCall {
  readonly path: string;
  readonly request: Request;
}

const ACTIONS: Readonly<Record<string, string>> = { PUT: 'lend', DELETE: 'give back' };

function read(request: Request): Asked {
  const { pathname, search } = new URL(request.url);
  const action = ACTIONS[request.method] ?? (pathname === '/machines' ? 'list' : 'look');
  return { service: 'depot', region: '', action, path: pathname + search, request };
}

/** The depot behind a line on which calls are recorded and that fail by rules. */
function openLine({ clock, pageSize, lagMs, bootMs }: SliceCloudOptions) {
  const depot = openDepot({ now: () => clock.now(), pageSize, lagMs, bootMs });
  const fake = openAnswering<Asked, RecordedCall & { readonly path: string }>(
    {
      read: async (request) => read(request),
      record: ({ request: _, ...call }, atMs) => ({ ...call, atMs, outcome: 'open' }),
      answer: ({ request }) => depot.handle(request),
      refuse: (_call, { code, status }) => Response.json({ error: code }, { status }),
      tooMuch: () => refusal('too_fast', 'Slow down.', 429),
    },
    clock,
  );
  return { depot, fake };
}

function openCloud(options: SliceCloudOptions) {
  const { depot, fake } = openLine(options);
  const ever = new Map<string, SliceMachine>();
  const isThere = ({ name, reason }: Lent): boolean => depot.machines.has(name) && reason === undefined;

  function machineOf(lent: Lent): SliceMachine {
    const upAtMs = lent.lentAtMs + options.bootMs;
    const { cluster, use, owner, shape } = lent.labels;
    return {
      id: lent.name,
      name: lent.name,
      mark: cluster && use && owner && shape ? (lent.labels as unknown as Mark) : undefined,
      state: () => (depot.machines.has(lent.name) ? (depot.isUp(lent) ? 'running' : 'off') : 'gone'),
      nextChangeMs: (nowMs) => (isThere(lent) && nowMs < upAtMs ? upAtMs : undefined),
      scripts: () => [lent.boot],
      exists: () => isThere(lent),
    };
  }

  depot.watch((lent) => ever.set(lent.name, machineOf(lent)));
  return {
    fake,
    machines: () => [...ever.values()],
    watch: (changed: (machine: SliceMachine) => void) => depot.watch((lent) => changed(machineOf(lent))),
    async addForeign(cluster: string) {
      const parts = [{}, { cluster }, { cluster: 'cluster9', use: 'worker', owner: 'p', shape: 's' }];
      return parts.map((labels, at) => depot.lend({ name: `by-hand-${at}`, size: 'small', labels, boot: '' }).name);
    },
    refuseLate(count: number) {
      depot.failureRules.failLate = count;
    },
  };
}

const { depot_machine } = provider.backends;

testSlice('a pool on the depot', {
  // Documents of others may not name this kind; the slice is about what the operator's own do.
  provider: { ...provider, backends: { depot_machine: { ...depot_machine, trust: 'any source' } } },
  backend: { kind: 'depot_machine', config: { url: 'http://depot.internal' } },
  openCloud,
  creation: 'lend',
  removals: ['give back'],
  mostCalls: { creation: 1_000, removal: 1_000 },
  grownWithinMs: 300_000,
  laterPage: { when: ({ path }) => path.includes('from='), what: { kind: 'error', code: 'upset', status: 502 } },
  denied: { kind: 'error', code: 'not_allowed', status: 403 },
  named: 'depot.internal',
});

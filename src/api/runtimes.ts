import { Readable } from 'node:stream';
import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { RUNTIME_PHASES, type Runtime as RuntimeRow, type Runtimes } from '#core/runtime.ts';
import { withBeat } from './beat.ts';
import type { ApiDeps } from './deps.ts';
import type { ReportedProblem } from './fleet-problems.ts';
import { gaugeSet } from './gauges.ts';
import type { ChangeTable, Gauges, GaugeWorld, NamedThing, Noun } from './noun.ts';
import { selectPage } from './page.ts';
import { progressLines } from './progress.ts';
import { type Raw, type Route, route } from './route.ts';
import { shownHost, shownRender, shownRuntime } from './shown/runtime.ts';
import * as wire from './wire/runtime.ts';
import { listOf, Name, paging, spanIn } from './wire/shared.ts';

const params = z.object({ runtime: Name });
const hostParams = z.object({ host: Name });
const LONGEST_WAIT_MS = 3_600_000;
const NDJSON = 'application/x-ndjson';

function runtimesOf({ features }: ApiDeps): Runtimes {
  if (features.runtimes) return features.runtimes;
  throw new Fault('unsupported', 'This server has no runtimes.');
}

/** What a change asked for is not done yet. */
const isUnderWay = ({ phase }: Pick<RuntimeRow, 'phase'>): boolean =>
  ['pending', 'provisioning', 'updating', 'releasing'].includes(phase);

function findRuntime({ store }: ApiDeps, id: string): RuntimeRow {
  const found = store.view.runtimes.get(id);
  if (found) return found;
  throw new Fault('missing', `There is no runtime ${id}.`, {
    at: 'path.runtime',
    remedy: 'List runtimes with `muster runtime ls`.',
  });
}

function reading(deps: ApiDeps): Route[] {
  const { store } = deps;
  return [
    route({
      method: 'GET',
      path: '/runtimes',
      role: 'viewer',
      summary: 'Lists runtimes in the order of their ids.',
      query: z.strictObject({ ...paging, phase: z.enum(RUNTIME_PHASES).optional() }),
      reply: wire.RuntimeList,
      handle({ query: { phase, after, limit } }) {
        const rows = phase ? store.view.runtimes.by('phase', phase) : store.view.runtimes.all();
        const page = selectPage(rows, { keyOf: ({ id }) => id, after, limit, order: 'ascending' });
        return { items: page.items.map(shownRuntime), next: page.next };
      },
    }),
    route({
      method: 'GET',
      path: '/runtimes/:runtime',
      role: 'viewer',
      summary: 'Shows a runtime.',
      params,
      reply: wire.Runtime,
      handle: ({ params: { runtime } }) => shownRuntime(findRuntime(deps, runtime)),
    }),
    route({
      method: 'GET',
      path: '/runtimes/:runtime/progress',
      role: 'viewer',
      summary:
        'The runtime at each change, as lines of JSON, until it is settled or gone. ' +
        'An empty line is a sign of life where nothing changes.',
      params,
      query: z.strictObject({ timeout: spanIn(LONGEST_WAIT_MS).default(LONGEST_WAIT_MS) }),
      reply: z.custom<Raw>(),
      media: [NDJSON],
      isStream: true,
      handle({ params: { runtime }, query, signal, turn, header }) {
        findRuntime(deps, runtime);
        header('content-type', NDJSON);
        const row = (): wire.Runtime | undefined => {
          const now = store.view.runtimes.get(runtime);
          return now && shownRuntime(now);
        };
        const follow = (poke: () => void) => [
          store.onChange('runtimes', (_after, _before, id) => id === runtime && poke()),
        ];
        const wish = { row, isSettled: (now: wire.Runtime) => !isUnderWay(now), follow, waitMs: query.timeout };
        const lines = progressLines(deps, wish, { signal, turn });
        return Readable.from(withBeat(lines, { clock: deps.clock, turn }), { objectMode: true, highWaterMark: 1 });
      },
    }),
  ];
}

function writing(deps: ApiDeps): Route[] {
  const acts = [
    ['hibernate', 'Stops a runtime and keeps its data.'],
    ['wake', 'Starts a hibernated runtime again.'],
  ] as const;
  return [
    route({
      method: 'POST',
      path: '/runtimes',
      role: 'operator',
      summary: 'Requests a runtime. The same request again answers the same runtime.',
      body: wire.RuntimeIn,
      reply: wire.Runtime,
      status: 201,
      alsoStatus: 200,
      async handle({ body: { disk_gb: diskGb, ...body }, caller, header, status }) {
        const { runtime, isNew } = await runtimesOf(deps).create({ ...body, diskGb }, caller);
        header('location', `/api/v1/runtimes/${runtime.id}`);
        if (!isNew) status(200);
        return shownRuntime(runtime);
      },
    }),
    route({
      method: 'PUT',
      path: '/runtimes/:runtime',
      role: 'operator',
      summary:
        'Changes the slots, the version, the environment, annotations or the disk of a runtime; what is left out stays.',
      params,
      body: wire.RuntimeEdit,
      reply: wire.Runtime,
      async handle({ params: { runtime }, body: { move: mayMove, disk_gb: diskGb, ...body }, caller }) {
        return shownRuntime(await runtimesOf(deps).edit(runtime, { ...body, diskGb, mayMove }, caller));
      },
    }),
    ...acts.map(([verb, summary]) =>
      route({
        method: 'POST',
        path: `/runtimes/:runtime/${verb}`,
        role: 'operator',
        summary,
        params,
        reply: wire.Runtime,
        status: 202,
        handle: async ({ params: { runtime }, caller }) => shownRuntime(await runtimesOf(deps)[verb](runtime, caller)),
      }),
    ),
    route({
      method: 'POST',
      path: '/runtimes/:runtime/check',
      role: 'operator',
      summary: 'Checks a runtime now, and repairs what differs.',
      params,
      reply: wire.Runtime,
      status: 202,
      handle: async ({ params: { runtime } }) => shownRuntime(await runtimesOf(deps).check(runtime)),
    }),
    route({
      method: 'DELETE',
      path: '/runtimes/:runtime',
      role: 'operator',
      summary: 'Removes a runtime and its data. It is shown until all its objects are gone.',
      params,
      reply: z.object({ runtime: wire.Runtime.optional() }),
      status: 202,
      async handle({ params: { runtime }, caller }) {
        const row = await runtimesOf(deps).remove(runtime, caller);
        return { runtime: row && shownRuntime(row) };
      },
    }),
    route({
      method: 'POST',
      path: '/runtime-renders',
      role: 'operator',
      summary: 'The objects of a runtime as they would be applied; nothing is applied.',
      body: wire.RenderIn,
      reply: wire.Rendered,
      handle: async ({ body: { disk_gb: diskGb, ...body } }) =>
        shownRender(await runtimesOf(deps).render({ ...body, diskGb })),
    }),
  ];
}

function hostRoutes(deps: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/runtime-hosts',
      role: 'viewer',
      summary: 'Lists the hosts of static provisioners: slots, used, what lives there.',
      query: z.strictObject(paging),
      reply: wire.RuntimeHostList,
      handle({ query: { after, limit } }) {
        const page = selectPage(runtimesOf(deps).hosts(), { keyOf: ({ host }) => host, after, limit });
        return { items: page.items.map(shownHost), next: page.next };
      },
    }),
    route({
      method: 'POST',
      path: '/runtime-hosts/:host/drain',
      role: 'operator',
      summary: 'Places no new runtimes on a host, and shows where its runtimes would move. `move` moves them.',
      params: hostParams,
      body: z.strictObject({ move: z.boolean().default(false) }).prefault({}),
      reply: listOf(wire.HostMove),
      async handle({ params: { host }, body: { move }, caller }) {
        return { items: [...(await runtimesOf(deps).drainHost(host, { moves: move }, caller))] };
      },
    }),
    route({
      method: 'POST',
      path: '/runtime-hosts/:host/release',
      role: 'operator',
      summary: 'Ends the drain of a host.',
      params: hostParams,
      reply: wire.RuntimeHostList,
      async handle({ params: { host }, caller }) {
        await runtimesOf(deps).releaseHost(host, caller);
        return { items: runtimesOf(deps).hosts().map(shownHost) };
      },
    }),
  ];
}

const changes: ChangeTable = {
  table: 'runtimes',
  follow: (store, touched) => store.onChange('runtimes', (_after, _before, id) => touched(id)),
  row(id, { store }) {
    const runtime = store.view.runtimes.get(id);
    return runtime && shownRuntime(runtime);
  },
};

function* problems({ store }: ApiDeps): Iterable<ReportedProblem> {
  for (const { id, since, why } of store.view.runtimes.by('phase', 'error')) {
    const about = { subject: `runtime/${id}`, link: `/runtimes/${encodeURIComponent(id)}` };
    const said = { what: why ?? 'It cannot be applied.', remedy: `See \`muster runtime why ${id}\`.` };
    yield { id: `runtime/${id}`, urgency: 'machines', ...about, since, said: () => said };
  }
}

function gauges({ registry, store, features }: GaugeWorld): Gauges {
  const { gauge, reset } = gaugeSet(registry);
  const runtimes = gauge('muster_runtimes', 'Runtimes by provisioner and phase.', ['provisioner', 'phase']);
  const slots = gauge('muster_runtime_slots', 'Slots of runtimes by provisioner.', ['provisioner']);
  const room = gauge('muster_runtime_host_slots', 'Slots of static hosts; 0: it has left the set.', ['host']);
  const used = gauge('muster_runtime_host_used_slots', 'Slots of static hosts that runtimes have.', ['host']);
  return {
    refresh() {
      reset();
      for (const { provisioner, phase, slots: count } of store.view.runtimes.all()) {
        runtimes.inc({ provisioner, phase });
        slots.inc({ provisioner }, count);
      }
      for (const one of features().runtimes?.hosts() ?? []) {
        room.set({ host: one.host }, one.slots);
        used.set({ host: one.host }, one.used);
      }
    },
  };
}

function* named({ store }: ApiDeps): Iterable<NamedThing> {
  for (const { id, provisioner } of store.view.runtimes.all())
    yield { kind: 'runtime', name: id, link: `/runtimes/${encodeURIComponent(id)}`, text: provisioner };
}

export const noun: Noun = {
  tag: 'runtimes',
  order: 95,
  routes: (deps) => [...reading(deps), ...writing(deps), ...hostRoutes(deps)],
  changes: [changes],
  problems,
  named,
  gauges,
};

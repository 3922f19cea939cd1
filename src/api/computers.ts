import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ShownComputer } from '#core/computer.ts';
import { isFrozen } from '#core/worker.ts';
import { withBeat } from './beat.ts';
import {
  computerCaller,
  computersOf,
  findComputer,
  newestEnded,
  noComputer,
  usableComputer,
  whyNotReachable,
} from './computer-use.ts';
import type { ApiDeps } from './deps.ts';
import type { ReportedProblem } from './fleet-problems.ts';
import { gaugeSet } from './gauges.ts';
import { type ChangeTable, type Gauges, type GaugeWorld, type NamedThing, type Noun, stopAll } from './noun.ts';
import { selectPage } from './page.ts';
import { progressLines } from './progress.ts';
import { type Raw, type Route, route } from './route.ts';
import { SESSION_BODY, SESSION_HEADERS, submitThere } from './sessions.ts';
import { shownComputer, shownEndedComputer, shownOffers, shownWhy } from './shown/computer.ts';
import { shownEvent } from './shown/event.ts';
import * as wire from './wire/computer.ts';
import { ComputerSessionsIn, Session, SessionList } from './wire/session.ts';
import { Flag, Name, paging, spanIn } from './wire/shared.ts';

const params = z.object({ computer: Name });
const LONGEST_WAIT_MS = 3_600_000;
const LOOK_EVERY_MS = 1_000;
const NDJSON = 'application/x-ndjson';
const MOST_EVENTS = 200;

/** It ends, runs, or has failed: nothing more happens until somebody asks, or until it is gone. */
const isSettled = ({ status }: wire.Computer): boolean => status !== 'starting' && status !== 'stopping';

// Live ones come first, by name; then ended ones, the newest first.
const LIVE = 'live/';
const ENDED = 'ended/';

async function listed(deps: ApiDeps, query: { all: boolean; after?: string | undefined; limit: number }) {
  const { all, after = LIVE, limit } = query;
  const isLive = !after.startsWith(ENDED);
  const rows = isLive ? computersOf(deps).list() : [];
  const keyOf = ({ computer }: ShownComputer): string => `${LIVE}${computer.name}`;
  const live = selectPage(rows, { keyOf, after, limit });
  const items = live.items.map((shown) => shownComputer(shown, deps.redactText));
  const left = limit - items.length;
  if (!all || live.next !== undefined) return { items, next: live.next };
  // What has just ended leaves memory at once, and is in the history when durable.
  await deps.store.durable();
  const from = { after: isLive ? undefined : after.slice(ENDED.length) || undefined, limit: left + 1 };
  const ended = await deps.store.history.endedComputers({}, { ...from, order: 'newest first' });
  const page = ended.slice(0, left);
  const next = ended.length > left ? `${ENDED}${page.at(-1)?.id ?? ''}` : undefined;
  return { items: [...items, ...page.map((row) => shownEndedComputer(row, deps.redactText))], next };
}

function reading(deps: ApiDeps): Route[] {
  const { store, redactText } = deps;
  const show = (shown: ShownComputer): wire.Computer => shownComputer(shown, redactText);
  return [
    route({
      method: 'GET',
      path: '/computers',
      role: 'viewer',
      summary: 'Lists computers by name; with `all` also those that have ended, the newest first.',
      query: z.strictObject({ ...paging, all: Flag }),
      reply: wire.ComputerList,
      handle: ({ query }) => listed(deps, query),
    }),
    route({
      method: 'GET',
      path: '/computers/:computer',
      role: 'viewer',
      summary: 'Shows a computer. Where there is none of that name, the one that ended last.',
      params,
      reply: wire.Computer,
      async handle({ params: { computer: name } }) {
        const found = computersOf(deps).find(name);
        if (found) return show(found);
        const ended = await newestEnded(deps, name);
        if (ended) return shownEndedComputer(ended, redactText);
        throw await noComputer(deps, name);
      },
    }),
    route({
      method: 'GET',
      path: '/computers/:computer/progress',
      role: 'viewer',
      summary:
        'The computer at each change, as lines of JSON, until it runs, has failed or is gone. ' +
        'An empty line is a sign of life where nothing changes.',
      params,
      query: z.strictObject({ timeout: spanIn(LONGEST_WAIT_MS).default(LONGEST_WAIT_MS) }),
      reply: z.custom<Raw>(),
      media: [NDJSON],
      isStream: true,
      async handle({ params: { computer: name }, query, signal, turn, header }) {
        const { id } = (await findComputer(deps, name)).computer;
        header('content-type', NDJSON);
        const row = (): wire.Computer | undefined => {
          const found = computersOf(deps).find(name);
          // Another one may have the name by now.
          return found?.computer.id === id ? show(found) : undefined;
        };
        const follow = (poke: () => void) => [
          store.onChange('computers', (_after, _before, changed) => changed === id && poke()),
          store.onChange('agents', (after, before) => (after ?? before)?.owner === id && poke()),
        ];
        // What the platform shows of its machine is no row of the store.
        const wish = { row, isSettled, follow, waitMs: query.timeout, lookEveryMs: LOOK_EVERY_MS };
        const lines = progressLines(deps, wish, { signal, turn });
        return Readable.from(withBeat(lines, { clock: deps.clock, turn }), { objectMode: true, highWaterMark: 1 });
      },
    }),
    route({
      method: 'GET',
      path: '/computers/:computer/why',
      role: 'viewer',
      summary: 'What a computer waits for or why it failed, with the facts and its last events.',
      params,
      query: z.strictObject({ limit: z.coerce.number().int().min(1).max(MOST_EVENTS).default(10) }),
      reply: wire.ComputerWhy,
      async handle({ params, query: { limit } }) {
        const found = await findComputer(deps, params.computer);
        const { id } = found.computer;
        const filter = { subject: `computer/${id}` };
        const events = await store.history.events(filter, { limit, order: 'newest first' });
        return shownWhy(found, {
          redact: redactText,
          isFrozen: isFrozen(store, id),
          events: events.map((row) => shownEvent(row, store)),
        });
      },
    }),
    route({
      method: 'GET',
      path: '/computer-offers',
      role: 'viewer',
      summary: 'What a computer can be created on: platforms with their options, and templates.',
      reply: wire.ComputerOffers,
      handle: () => shownOffers(computersOf(deps).offered()),
    }),
  ];
}

function writing(deps: ApiDeps): Route[] {
  const { redactText } = deps;
  const show = (shown: ShownComputer): wire.Computer => shownComputer(shown, redactText);
  return [
    route({
      method: 'POST',
      path: '/computers',
      role: 'operator',
      summary: 'Creates a computer. It starts from then on; `progress` tells when it runs.',
      body: wire.ComputerIn,
      reply: wire.Computer,
      status: 201,
      async handle({ body: { ttl: ttlMs, ...body }, caller, header }) {
        const made = await computersOf(deps).create({ ...body, ttlMs }, computerCaller(caller));
        header('location', `/api/v1/computers/${made.computer.name}`);
        return show(made);
      },
    }),
    route({
      method: 'POST',
      path: '/computers/:computer/extend',
      role: 'operator',
      summary: 'Lets a computer last longer, at most to the limit of the server.',
      params,
      body: wire.ComputerExtension,
      reply: wire.Computer,
      async handle({ params, body: { by }, caller }) {
        const { name } = (await usableComputer(deps, params.computer, caller)).computer;
        return show(await computersOf(deps).extend(name, by, computerCaller(caller)));
      },
    }),
    route({
      method: 'DELETE',
      path: '/computers/:computer',
      role: 'operator',
      summary: 'Removes a computer in every state. One that is being removed or gone is a success.',
      params,
      reply: wire.Computer,
      status: 202,
      async handle({ params: { computer: name }, caller }) {
        const computers = computersOf(deps);
        if (computers.find(name)) return show(await computers.remove(name, computerCaller(caller)));
        const ended = await newestEnded(deps, name);
        if (ended) return shownEndedComputer(ended, redactText);
        throw await noComputer(deps, name);
      },
    }),
    route({
      method: 'POST',
      path: '/computers/:computer/sessions',
      role: 'operator',
      summary:
        'Starts one session on a computer, or a list of sessions, as `/sessions` does. For its creator and admins.',
      params,
      body: ComputerSessionsIn,
      ...SESSION_BODY,
      headers: SESSION_HEADERS,
      reply: z.union([Session, SessionList]),
      status: 201,
      isDurable: true,
      async handle({ params, body, headers, caller, header }) {
        const found = await usableComputer(deps, params.computer, caller);
        const fault = whyNotReachable(found, { now: deps.clock.now(), mayWait: true });
        if (fault) throw fault;
        return submitThere(deps, found.computer.id, { body, headers, caller, header });
      },
    }),
  ];
}

/** What a computer shows follows from its machine and its agent too. */
const changes: ChangeTable = {
  table: 'computers',
  follow: (store, touched) =>
    stopAll([
      store.onChange('computers', (_after, _before, id) => touched(id)),
      store.onChange('computerMachines', (after, before) => touched((after ?? before)?.computer)),
      store.onChange('agents', (after, before) => {
        const agent = after ?? before;
        if (agent?.use === 'computer') touched(agent.owner);
      }),
    ]),
  row(id, deps) {
    const computer = deps.store.view.computers.get(id);
    const found = computer && deps.features.computers?.find(computer.name);
    return found && shownComputer(found, deps.redactText);
  },
};

/** Those that do not run and never will. */
function* problems({ store }: ApiDeps): Iterable<ReportedProblem> {
  for (const { id, name, failure } of store.view.computers.all()) {
    if (!failure) continue;
    const { message, remedy = `Remove it with \`muster computer rm ${name}\`, and create it again.`, at } = failure;
    const about = { subject: `computer/${name}`, link: `/computers/${name}` };
    yield { id: `computer/${id}`, urgency: 'machines', ...about, since: at, said: () => ({ what: message, remedy }) };
  }
}

function gauges({ registry, features }: GaugeWorld): Gauges {
  const { gauge, reset } = gaugeSet(registry);
  const computers = gauge('muster_computers', 'Computers by platform and status.', ['platform', 'status']);
  return {
    refresh() {
      reset();
      for (const { computer, status } of features().computers?.list() ?? [])
        computers.inc({ platform: computer.platform, status });
    },
  };
}

function* named({ store }: ApiDeps): Iterable<NamedThing> {
  for (const { id, name } of store.view.computers.all())
    yield { kind: 'computer', name, link: `/computers/${encodeURIComponent(name)}`, text: id };
}

export const noun: Noun = {
  tag: 'computers',
  order: 97,
  routes: (deps) => [...reading(deps), ...writing(deps)],
  changes: [changes],
  problems,
  named,
  gauges,
};

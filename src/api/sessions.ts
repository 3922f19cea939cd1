import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { z } from 'zod';
import { SESSION_ENDS, SESSION_PHASES, type Session as SessionRow, sessionPhase } from '#core/session.ts';
import type { Caller } from '../access/access.ts';
import type { SessionRequest } from '../sessions/sessions.ts';
import { checkSessionUse } from './computer-use.ts';
import type { ApiDeps } from './deps.ts';
import { gaugeSet } from './gauges.ts';
import { type ChangeTable, type Gauges, type GaugeWorld, type NamedThing, type Noun, stopAll } from './noun.ts';
import { selectPage } from './page.ts';
import { findPool } from './pools.ts';
import { httpFault } from './problem.ts';
import { type Call, type Route, route } from './route.ts';
import { shownSession, specOf } from './shown/session.ts';
import { countSessions } from './shown/session-counts.ts';
import * as wire from './wire/session.ts';
import { Name, paging, spanIn } from './wire/shared.ts';

const params = z.object({ session: Name });
const LONGEST_WAIT_MS = 300_000;
// A list of sessions may carry long commands and environments.
const BODY_LIMIT = 16 * 1024 * 1024;
const MOST_VALUES = 50_000;

function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw httpFault(400, 'invalid', 'The Idempotency-Key must be 1 to 255 visible ASCII characters.', {
    at: 'headers.idempotency-key',
  });
}

type SentSession = z.output<typeof wire.SessionIn>;
type SentThere = z.output<typeof wire.ComputerSessionIn>;

const canEnter = (folder: string): Promise<boolean> =>
  access(folder, constants.X_OK).then(
    () => true,
    () => false,
  );

/** The folders of callers on our machine that we may enter: our own agents there may then too. */
async function enterableFolders({ server }: ApiDeps, sent: readonly SentSession[]): Promise<ReadonlySet<string>> {
  const isHere = ({ caller }: SentSession): boolean => caller !== undefined && caller.machine_id === server.machineId;
  const folders = new Set(sent.filter(isHere).map(({ caller }) => caller?.folder ?? ''));
  for (const folder of folders) if (!(await canEnter(folder))) folders.delete(folder);
  return folders;
}

function requestOf(sent: SentSession | SentThere, { token }: Caller): SessionRequest {
  const { name, index, count, files } = sent;
  const part = index === undefined || count === undefined ? undefined : { index, count };
  return {
    spec: specOf(sent),
    ...(name !== undefined && { name }),
    ...(part && { part }),
    ...(files && { files: { ...files, token } }),
  };
}

/** What routes that start sessions take. */
export const SESSION_BODY = { bodyLimit: BODY_LIMIT, mostValues: MOST_VALUES };
export const SESSION_HEADERS = [
  {
    name: 'Idempotency-Key',
    description: 'The server carries out a request with the same key once.',
    schema: { maxLength: 255 },
  },
];

function submitting(deps: ApiDeps): Route {
  return route({
    method: 'POST',
    path: '/sessions',
    role: 'operator',
    summary: 'Starts one session, or a list of sessions: all or none. `Idempotency-Key` makes a retry safe.',
    body: wire.SessionsIn,
    ...SESSION_BODY,
    headers: SESSION_HEADERS,
    reply: z.union([wire.Session, wire.SessionList]),
    status: 201,
    // Under load something is always being committed: each answer would wait for a second commit.
    isDurable: true,
    async handle({ body, headers, caller, header }) {
      const wanted = Array.isArray(body) ? body : [body];
      const folders = wanted.some((one) => one.caller) ? await enterableFolders(deps, wanted) : new Set<string>();
      const requests = wanted.map((one) => ({
        ...requestOf(one, caller),
        ...(one.pool !== undefined && { pool: one.pool }),
        ...(one.caller && folders.has(one.caller.folder) && { callerFolder: one.caller.folder }),
      }));
      return submitted(deps, requests, { isList: Array.isArray(body), headers, caller, header });
    },
  });
}

interface Submission extends Pick<Call<unknown, unknown, unknown>, 'headers' | 'caller' | 'header'> {
  /** A list is answered by a list, also one of a single session. */
  readonly isList: boolean;
}

async function submitted(
  { sessions, store }: ApiDeps,
  requests: readonly SessionRequest[],
  { isList, headers, caller, header }: Submission,
): Promise<wire.Session | wire.SessionList> {
  const key = idempotencyKey(headers['idempotency-key']);
  const accepted = await sessions.submit(requests, caller, key);
  const items = accepted.map((session) => shownSession(session, store));
  const [only] = items;
  if (isList || !only) return { items };
  header('location', `/api/v1/sessions/${only.id}`);
  return only;
}

/** Starts sessions on a computer that this caller may use. */
export function submitThere(
  deps: ApiDeps,
  computer: string,
  { body, ...call }: { readonly body: SentThere | readonly SentThere[] } & Omit<Submission, 'isList'>,
): Promise<wire.Session | wire.SessionList> {
  const isList = Array.isArray(body);
  const wanted: readonly SentThere[] = isList ? body : [body as SentThere];
  const requests = wanted.map((one) => ({ ...requestOf(one, call.caller), computer }));
  return submitted(deps, requests, { ...call, isList });
}

/** What a list may be narrowed to: a phase, or how a session ended, as the list shows it. */
const SHOWN_PHASES = [...SESSION_PHASES, ...SESSION_ENDS] as const;

type Query = {
  pool?: string | undefined;
  computer?: string | undefined;
  name?: string | undefined;
  phase?: (typeof SHOWN_PHASES)[number] | undefined;
  after?: string | undefined;
  limit: number;
};

/** The id of the computer of that name, also of the one that ended last. */
async function computerNamed({ view, history }: ApiDeps['store'], name: string): Promise<string> {
  for (const { id } of view.computers.by('name', name)) return id;
  const [ended] = await history.endedComputers({ name }, { limit: 1, order: 'newest first' });
  return ended?.computer ?? name;
}

/** Live ones from memory and ended ones from history, newest first; ids tell the time of acceptance. */
async function listed({ store }: ApiDeps, query: Query) {
  const { pool: poolName, computer, name, phase, after } = query;
  const limit = query.limit + 1;
  const [pool] = poolName === undefined ? [] : store.view.pools.by('name', poolName);
  const poolId = computer === undefined ? (pool?.id ?? poolName) : await computerNamed(store, computer);
  const isConnected = ({ worker }: SessionRow): boolean =>
    worker !== undefined && store.view.agents.get(worker) !== undefined;
  const isWanted = (session: SessionRow): boolean =>
    (poolId === undefined || session.pool === poolId) &&
    (phase === undefined || sessionPhase(session, isConnected(session)) === phase);
  const { sessions } = store.view;
  const byPool = () => (poolId === undefined ? sessions.all() : sessions.by('pool', poolId));
  const live = name === undefined ? byPool() : sessions.by('name', name);
  const selection = { keyOf: (row: SessionRow) => row.id, after, limit, order: 'descending' } as const;
  // Memory first: a session that ends meanwhile is then in both. In the other order it could be in neither.
  const page = selectPage(Iterator.from(live).filter(isWanted), selection);
  // A session that has just ended leaves memory at once, and is in history when durable.
  await store.durable();
  const how = SESSION_ENDS.find((end) => end === phase);
  const ended =
    phase === undefined || phase === 'ended' || how
      ? await store.history.ended({ pool: poolId, name }, { after, limit, order: 'newest first' })
      : [];
  const hasEnded = new Set(ended.map((row) => row.id));
  const all = [...page.items.filter((row) => !hasEnded.has(row.id)), ...ended];
  const rows = all.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, query.limit);
  return {
    // The end is no column of the history: a page may have fewer rows than asked for, and none, with more to come.
    rows: how ? rows.filter(({ end }) => end?.how === how) : rows,
    next: all.length > query.limit ? rows.at(-1)?.id : undefined,
  };
}

function listing(deps: ApiDeps): Route {
  return route({
    method: 'GET',
    path: '/sessions',
    role: 'viewer',
    summary: 'Lists sessions, live and ended, newest first.',
    query: z.strictObject({
      ...paging,
      pool: Name.optional(),
      computer: Name.optional().meta({ description: 'In place of a pool.' }),
      name: Name.optional(),
      phase: z
        .enum(SHOWN_PHASES)
        .optional()
        .meta({ description: 'A phase, or how a session ended. Pages then may have fewer rows than `limit`.' }),
    }),
    reply: wire.SessionList,
    async handle({ query }) {
      const { rows, next } = await listed(deps, query);
      // A removed pool has only ended sessions, found by its id.
      if (rows.length === 0 && query.pool !== undefined && query.after === undefined) findPool(deps.store, query.pool);
      return { items: rows.map((row) => shownSession(row, deps.store)), next };
    },
  });
}

/** The session, once it has ended; none where the time is up, or the caller is gone. */
async function waitForEnd(
  deps: ApiDeps,
  id: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<SessionRow | undefined> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener('abort', stop, { once: true });
  const cancel = deps.clock.alarm(waitMs, stop);
  try {
    return await deps.sessions.ended(id, over.signal);
  } catch (thrown) {
    if (!over.signal.aborted) throw thrown;
    return undefined;
  } finally {
    cancel();
    signal.removeEventListener('abort', stop);
  }
}

function watching(deps: ApiDeps): Route[] {
  const { store, sessions } = deps;
  return [
    route({
      method: 'GET',
      path: '/sessions/:session',
      role: 'viewer',
      summary: 'Shows a session. With `wait`, answers when it has ended, or after that time.',
      params,
      query: z.strictObject({ wait: spanIn(LONGEST_WAIT_MS).default(0) }),
      reply: wire.Session,
      async handle({ params, query, signal, turn, caller }) {
        const session = await sessions.refer(params.session, caller);
        if (session.end || query.wait === 0) return shownSession(session, store);
        const ended = await waitForEnd(deps, session.id, query.wait, signal);
        await turn();
        return shownSession(ended ?? (await sessions.refer(session.id, caller)), store);
      },
    }),
    route({
      method: 'POST',
      path: '/sessions/:session/kill',
      role: 'operator',
      summary: 'Ends a session: SIGTERM, then SIGKILL after its grace period; `force` sends SIGKILL at once.',
      params,
      body: z.strictObject({ force: z.boolean().default(false) }).prefault({}),
      reply: wire.Session,
      status: 202,
      async handle({ params, body, caller }) {
        const session = await sessions.refer(params.session, caller);
        await checkSessionUse(deps, session, caller);
        return shownSession(await sessions.kill(session.id, body.force, caller), store);
      },
    }),
  ];
}

function sessionRoutes(deps: ApiDeps): Route[] {
  return [submitting(deps), listing(deps), ...watching(deps)];
}

/** The phase of a session follows from its agent too; one that has ended is sent once that is durable. */
const changes: ChangeTable = {
  table: 'sessions',
  follow: (store, touched) =>
    stopAll([
      store.onChange('sessions', (_after, _before, id) => touched(id)),
      store.onChange('agents', (after, before, id) => {
        if (!(after && before)) for (const session of store.view.sessions.by('worker', id)) touched(session.id);
      }),
      store.onDurable((changed) => {
        for (const change of changed)
          if ('append' in change && change.append === 'ended') touched(change.row.id, change.row);
      }),
    ]),
  row(id, { store }, { kept }) {
    const session = store.view.sessions.get(id) ?? (kept as SessionRow | undefined);
    return session && shownSession(session, store);
  },
};

function gauges({ registry, store }: GaugeWorld): Gauges {
  const { gauge, reset } = gaugeSet(registry);
  const sessions = gauge('muster_sessions', 'Live sessions by phase.', ['phase']);
  return {
    refresh() {
      reset();
      for (const [phase, count] of Object.entries(countSessions(store))) sessions.set({ phase }, count);
    },
  };
}

function* named({ store }: ApiDeps): Iterable<NamedThing> {
  for (const { id, name, poolName, spec } of store.view.sessions.all())
    yield {
      ...{ kind: 'session', name: name ?? id, link: `/sessions/${encodeURIComponent(id)}` },
      text: `${id} ${poolName} ${spec.command.join(' ')}`,
    };
}

export const noun: Noun = { tag: 'sessions', order: 40, routes: sessionRoutes, changes: [changes], named, gauges };

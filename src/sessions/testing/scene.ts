// The world of this folder's tests: a store on a simulated disk, a virtual clock, agents that only receive.
import type { AgentCommand, AgentLink, AgentReport, Hello } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { type Actor, SELF } from '#core/journal.ts';
import { silentLog } from '#core/log.ts';
import type { Agent } from '#core/machine.ts';
import type { Pool } from '#core/pool.ts';
import { seededRandom } from '#core/random.ts';
import type { Session, SessionSpec } from '#core/session.ts';
import { append, drop, put, type RowOf, type Store, type TableName } from '#core/store.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { Worker } from '#core/worker.ts';
import type { Journal, NewEvent } from '#journal/journal.ts';
import { type Disk, emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import type { SessionLimits, SessionsDeps } from '../deps.ts';
import type { Sessions } from '../sessions.ts';
import { startSessions } from '../sessions.ts';

/** Where no session has files. */
export const noFiles: SessionsDeps['files'] = {
  hold: async () => {
    throw new Fault('missing', 'There are no files.');
  },
};

export const CALLER: Actor = { who: 'token:ci', from: '10.0.0.7' };

export interface SceneOptions {
  readonly disk?: Disk;
  readonly clock?: VirtualClock;
  readonly seed?: number;
  readonly limits?: Partial<SessionLimits>;
  readonly files?: SessionsDeps['files'];
  /** Answers whether the agent took it. */
  readonly send?: (agent: string, command: AgentCommand) => boolean;
}

export interface AgentOptions {
  readonly pool?: string;
  readonly slots?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly wire?: Agent['wire'];
  readonly takesFiles?: true;
  readonly executions?: Hello['executions'];
}

/** A disk that can be made to wait. */
function makeGate() {
  let opened: Promise<void> | undefined;
  let open = (): void => {};
  let isBroken = false;
  const close = (): void => {
    opened = new Promise((resolve) => {
      open = resolve;
    });
  };
  return {
    async pass(): Promise<void> {
      await opened;
      if (isBroken) throw new Fault('unavailable', 'The disk is gone.');
    },
    pause(): void {
      if (!opened) close();
    },
    /** Lets the one transaction through that waits. */
    letOneThrough(): void {
      const letThrough = open;
      close();
      letThrough();
    },
    resume(): void {
      opened = undefined;
      open();
    },
    /** Stops all writes: waiting transactions are lost. */
    crash(): void {
      isBroken = true;
      this.resume();
    },
  };
}

export async function openScene(options: SceneOptions = {}) {
  const { disk = emptyDisk(), clock = new VirtualClock(), limits } = options;
  const random = seededRandom(options.seed ?? 1);
  const gate = makeGate();
  const store = await openStore(
    memoryDriver(disk, () => gate.pass()),
    () => {},
  );
  const sent: { readonly agent: string; readonly command: AgentCommand }[] = [];
  const dismissed: string[] = [];
  const unknown: Record<string, readonly string[]> = {};
  const link: AgentLink = {
    send(agent, command) {
      const isTaken = options.send ? options.send(agent, command) : store.view.agents.get(agent) !== undefined;
      if (isTaken) sent.push({ agent, command });
      return isTaken;
    },
    dismiss: (agent) => void dismissed.push(agent),
  };
  const sessions = startSessions({
    store,
    clock,
    random,
    log: silentLog,
    journal: testJournal(clock),
    link,
    files: options.files ?? noFiles,
    limits,
    noteUnknown(agent, ids) {
      unknown[agent] = ids;
    },
  });
  await clock.settle();
  return { disk, clock, gate, store, sent, dismissed, unknown, sessions, ...actions(store, clock, sessions) };
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

export type RunningScene = Scene & { readonly id: string };

export interface RunningOptions extends SceneOptions {
  readonly spec?: Partial<SessionSpec>;
  readonly agent?: AgentOptions;
}

/** One session runs on the agent m-1; `sent` holds what it is sent from now on. */
export async function openRunningSession({ spec, agent, ...options }: RunningOptions = {}): Promise<RunningScene> {
  const scene = await openScene(options);
  await scene.pool('gpu');
  await scene.join('m-1', agent);
  const { id } = await scene.submit(spec);
  await scene.says('m-1', { is: 'started', session: id, attempt: 1 });
  scene.sent.length = 0;
  return { ...scene, id };
}

function testJournal(clock: VirtualClock): Pick<Journal, 'event'> {
  let count = 0;
  return {
    event: (event: NewEvent, { who, from } = SELF) =>
      append('events', { ...event, id: String(++count).padStart(9, '0'), at: clock.now(), who, from }),
  };
}

/** What the other folders, and the agents, do to this one. */
function actions(store: Store, clock: VirtualClock, sessions: Sessions) {
  let epoch = store.epoch * 1_000_000;

  async function change<T extends TableName>(name: T, row: RowOf<T>): Promise<void> {
    store.commit([put(name, row)]).catch(() => {});
    await clock.settle();
  }

  async function remove(name: TableName, id: string): Promise<void> {
    store.commit([drop(name, id)]).catch(() => {});
    await clock.settle();
  }

  return {
    change,
    remove,
    pool: (name: string, more: Partial<Pool> = {}) => change('pools', poolRow(name, more)),
    /** Connects an agent, with the list of what it runs. */
    async join(name: string, { pool = 'gpu', executions = [], ...more }: AgentOptions = {}): Promise<void> {
      if (!store.view.workers.get(name)) await change('workers', workerRow(name, pool));
      await change('agents', agentRow(name, { owner: pool, epoch: ++epoch, connectedAt: clock.now(), ...more }));
      sessions.agentJoined(name, executions);
      await clock.settle();
    },
    leave: (name: string) => remove('agents', name),
    async gone(name: string): Promise<void> {
      await remove('agents', name);
      await remove('workers', name);
    },
    async submit(spec: Partial<SessionSpec> = {}, pool = 'gpu'): Promise<Session> {
      const [session] = await sessions.submit([{ pool, spec: specOf(spec) }], CALLER);
      await clock.settle();
      return session as Session;
    },
    async says(agent: string, report: AgentReport): Promise<void> {
      sessions.report(agent, report);
      await clock.settle();
    },
    now: (id: string): Session | undefined => store.view.sessions.get(id),
  };
}

export function specOf(more: Partial<SessionSpec> = {}): SessionSpec {
  return { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 5_000, retries: 0, ...more };
}

export const output = (session: string, seq: number, text: string, attempt = 1): AgentReport => ({
  is: 'output',
  session,
  attempt,
  seq,
  stream: 'stdout',
  data: Buffer.from(text),
});

export const exited = (session: string, attempt = 1, lastSeq = 0): AgentReport => ({
  is: 'ended',
  session,
  attempt,
  lastSeq,
  how: 'exited',
  exitCode: 0,
});

export const poolRow = (name: string, more: Partial<Pool> = {}): Pool => aPool({}, { name }, { id: name, ...more });

export function workerRow(id: string, pool: string): Worker {
  return { id, pool, machine: id, offer: OFFER.id, askedAt: 0, createdAt: 0, joinedAt: 0 };
}

function agentRow(id: string, more: Partial<Agent> & { owner: string; epoch: number; connectedAt: number }): Agent {
  return {
    id,
    use: 'worker',
    slots: 1,
    labels: {},
    wire: 'muster',
    version: '1',
    hostname: id,
    address: '10.0.0.1',
    ...more,
  };
}

// The cloud itself: machines with labels, a token for each launch, pages, lag and late failures. It knows nothing of the
// provider.
import type { Clock } from '#core/clock.ts';
import type { Mark } from '#core/provider.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import type { Bootable } from '#fakes/boot/machine.ts';
import { untilAborted, type WireCall } from '#fakes/failure-rules.ts';
import { type Limits, noLimits, openBuckets } from '#fakes/limits.ts';
import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import { follow, nextStepMs, type Step, stepAt } from '#fakes/timeline.ts';

type State = 'creating' | 'running' | 'suspended' | 'deleting' | 'failed' | 'gone';

/** A machine as the cloud keeps it. */
export interface FakeMachine {
  /** Grows with each machine, so that listings have an order. */
  readonly id: string;
  readonly name: string;
  /** Absent where someone made it by hand. */
  readonly labels: Partial<Mark>;
  readonly madeAtMs: number;
  readonly script: string;
  readonly address: string;
  /** The port that others are told. */
  readonly port?: number | undefined;
  /** When the cloud takes it away by itself. */
  readonly endsMs?: number | undefined;
  timeline: readonly Step<State>[];
  /** Its disk stays when it goes, as the one who deleted it wanted. */
  keepsDisk?: boolean | undefined;
}

export interface FakeMemoryOptions {
  readonly clock: Clock;
  readonly pageSize?: number;
  readonly limits?: Limits<MemoryCall>;
  readonly lagMs?: number;
  readonly bootMs?: number;
}

/** What the cloud does after it has agreed to make a machine. */
interface FakeOperation {
  readonly endsMs: number;
  readonly isFailed: boolean;
  readonly machine: FakeMachine;
}

export interface MemoryCall extends WireCall {
  readonly page: string | undefined;
  /** Of the operations that are asked for. */
  readonly ids: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

interface Creation {
  readonly token: string;
  readonly names: readonly string[];
  readonly labels: Mark;
  readonly script: string;
  readonly port?: number;
  readonly lifeMs?: number;
  /** Operations are wanted. */
  readonly isFollowed: boolean;
}

export interface FakeMemory extends Answering<MemoryCall, MemoryCall & RecordedCall> {
  /** How this cloud behaves; tests change it as they go. */
  readonly behaviour: { lagMs: number };
  /** All machines that ever were. */
  readonly machines: readonly FakeMachine[];
  /** Someone makes a machine by hand. */
  add(labels: Partial<Mark>): FakeMachine;
  /** The next machines are promised and never come. */
  refuseLate(count: number): void;
  /** Someone in the machine shuts it down: this cloud deletes it then. */
  shutDown(machine: FakeMachine): void;
  stateOf(machine: FakeMachine): State;
  /** All that costs money: machines and their disks. */
  held(): string[];
  watch(changed: (machine: FakeMachine) => void): () => void;
}

const [BOOT_MS, END_MS, LATE_MS, LAG_MS] = [2_000, 1_000, 3_000, 2_000];
const ACTIONS: Readonly<Record<string, State | undefined>> = {
  delete: 'gone',
  suspend: 'suspended',
  resume: 'running',
};
const tooMuch = (): Error => refusal('too_many_requests', 'Slow down.', 429);

async function readCall(request: Request): Promise<MemoryCall> {
  const url = new URL(request.url);
  const text = await request.text();
  const action = url.pathname.split('/')[2] ?? 'list';
  const page = url.searchParams.get('page') ?? undefined;
  const ids = url.searchParams.get('ids')?.split(',') ?? [];
  return { service: 'machines', region: '', action, page, ids, body: text === '' ? {} : JSON.parse(text) };
}

export function openFakeMemory(options: FakeMemoryOptions): FakeMemory {
  const { clock, pageSize = 5, limits = noLimits, bootMs = BOOT_MS } = options;
  const behaviour = { lagMs: options.lagMs ?? LAG_MS };
  const machines: FakeMachine[] = [];
  /** By its token: the request, and its operations by name. */
  const tokens = new Map<string, { readonly asked: string; readonly begun: Readonly<Record<string, string>> }>();
  const operations = new Map<string, FakeOperation>();
  const watchers = new Set<(machine: FakeMachine) => void>();
  const take = openBuckets<MemoryCall>({ limits: () => limits, tooMuch });
  let late = 0;

  const stateOf = ({ timeline }: FakeMachine): State => stepAt(timeline, clock.now())?.state ?? 'creating';
  const changed = (machine: FakeMachine): void => {
    for (const heard of watchers) heard(machine);
  };

  function make(
    name: string,
    { labels, script, port, lifeMs }: Pick<Creation, 'script' | 'port' | 'lifeMs'> & { labels: Partial<Mark> },
    failed: State = 'failed',
  ): FakeMachine {
    const madeAtMs = clock.now();
    const next: Step<State> =
      late > 0 ? { atMs: madeAtMs + LATE_MS, state: failed } : { atMs: madeAtMs + bootMs, state: 'running' };
    late = Math.max(0, late - 1);
    const id = `id-${String(machines.length).padStart(6, '0')}`;
    const endsMs = lifeMs === undefined ? undefined : madeAtMs + lifeMs;
    const end: Step<State>[] =
      endsMs === undefined || next.state !== 'running' ? [] : [{ atMs: endsMs, state: 'gone' }];
    const address = `10.0.${machines.length >> 8}.${machines.length & 255}`;
    const machine = {
      ...{ id, name, labels, madeAtMs, script, address, port, endsMs },
      timeline: [{ atMs: madeAtMs, state: 'creating' } as const, next, ...end],
    };
    machines.push(machine);
    changed(machine);
    return machine;
  }

  function list({ page }: MemoryCall): Response {
    const nowMs = clock.now();
    const shown = machines.filter((one) => stateOf(one) !== 'gone' && nowMs - one.madeAtMs >= behaviour.lagMs);
    const question = { of: 'machines', token: page, size: pageSize, nowMs, emptyPages: 0, tokenLifeMs: 3_600_000 };
    const cursor = cursorOf(question);
    if (!cursor) throw refusal('bad_page', 'This token is not valid.');
    const { items, token } = pageOf(
      question,
      cursor,
      inOrder(shown, ({ id }) => id),
    );
    const rows = items.map((one) => {
      const state = stateOf(one);
      const { name, labels, madeAtMs, address, port, endsMs: endsAtMs } = one;
      const shown = { name, labels, madeAtMs, address, port, endsAtMs, state };
      return { ...shown, ...(state === 'failed' ? { reason: 'out_of_stock' } : {}) };
    });
    return Response.json({ items: rows, next: token });
  }

  function create({ body }: MemoryCall): Response {
    const { token, names, isFollowed, ...wanted } = body as unknown as Creation;
    const asked = JSON.stringify(body);
    const before = tokens.get(token);
    if (before && before.asked !== asked)
      throw refusal('other_request', 'The token was used for another request.', 409);
    const begun = before?.begun ?? Object.fromEntries(names.map((name) => [name, begin(name)]));
    tokens.set(token, { asked, begun });
    return Response.json(isFollowed ? { operations: begun } : {});

    /** Of a machine whose operation failed nothing is left. */
    function begin(name: string): string {
      const made = make(name, wanted, isFollowed ? 'gone' : 'failed');
      const { atMs: endsMs, state } = made.timeline[1] as Step<State>;
      const id = `operation-${operations.size}`;
      operations.set(id, { endsMs, isFailed: state !== 'running', machine: made });
      return id;
    }
  }

  function showOperations({ ids }: MemoryCall): Response {
    const shown = ids.flatMap((id) => {
      const found = operations.get(id);
      if (!found) return [];
      const { endsMs, isFailed, machine } = found;
      // Who deletes a machine that is being made ends its making.
      const isUnderWay = clock.now() < endsMs;
      if (isUnderWay && stateOf(machine) === 'gone') return [{ id, state: 'failed', reason: 'deleted' }];
      if (isUnderWay) return [{ id, state: 'running' }];
      return [isFailed ? { id, state: 'failed', reason: 'out_of_stock' } : { id, state: 'done' }];
    });
    return Response.json({ operations: shown });
  }

  function changeOne(to: State, one: FakeMachine): 'done' | 'already' {
    if (stateOf(one) === to) return 'already';
    const atMs = clock.now();
    const steps: readonly [Step<State>, ...Step<State>[]] =
      to === 'gone'
        ? [
            { atMs, state: 'deleting' },
            { atMs: atMs + END_MS, state: 'gone' },
          ]
        : [{ atMs, state: to }];
    one.timeline = follow(
      one.timeline.filter((step) => step.atMs <= atMs),
      steps,
    );
    changed(one);
    return 'done';
  }

  /** With `cluster`, only what bears that label. */
  function change(to: State, { body }: MemoryCall): Response {
    const { names, cluster, keepsDisks } = body as { names: string[]; cluster?: string; keepsDisks?: boolean };
    const outcome: Record<string, string[]> = { done: [], already: [], absent: [], foreign: [] };
    for (const name of names) {
      const found = machines.filter((one) => one.name === name && stateOf(one) !== 'gone');
      const isForeign = found.some(({ labels }) => cluster !== undefined && labels.cluster !== cluster);
      for (const one of found) one.keepsDisk = keepsDisks;
      const how = found.length === 0 ? 'absent' : isForeign ? 'foreign' : found.map((one) => changeOne(to, one))[0];
      outcome[how ?? 'absent']?.push(name);
    }
    return Response.json(outcome);
  }

  /** Answers at the next change. */
  function watchOnce(signal: AbortSignal): Promise<Response> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const heard = (): void => resolve();
    watchers.add(heard);
    const answered = Promise.race([promise.then(() => Response.json({})), untilAborted(signal)]);
    return answered.finally(() => watchers.delete(heard));
  }

  function answer(call: MemoryCall, signal: AbortSignal): Response | Promise<Response> {
    take(call, clock.now());
    if (call.action === 'watch') return watchOnce(signal);
    if (call.action === 'list') return list(call);
    if (call.action === 'create') return create(call);
    if (call.action === 'operations') return showOperations(call);
    const to = ACTIONS[call.action];
    if (to === undefined) throw refusal('unknown_action', `There is no action ${call.action}.`, 404);
    return change(to, call);
  }

  const answering = openAnswering<MemoryCall, MemoryCall & RecordedCall>(
    {
      read: readCall,
      record: (call, atMs) => ({ ...call, atMs, outcome: 'open' }),
      answer,
      refuse: (_call, { code, status }) => Response.json({ code }, { status }),
      tooMuch,
    },
    clock,
  );
  return {
    ...answering,
    behaviour,
    machines,
    add: (labels) => make(`by-hand-${machines.length}`, { labels, script: '' }),
    refuseLate(count) {
      late = count;
    },
    shutDown: (machine) => void changeOne('gone', machine),
    stateOf,
    held: () =>
      machines.flatMap((one) => {
        const isThere = stateOf(one) !== 'gone';
        return [...(isThere ? [`machine ${one.id}`] : []), ...(isThere || one.keepsDisk ? [`disk of ${one.id}`] : [])];
      }),
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
  };
}

/** The machine as those see it who run machines. */
export function bootable(machine: FakeMachine, cloud: Pick<FakeMemory, 'shutDown'>): Bootable {
  return {
    id: machine.id,
    state(nowMs) {
      const state = stepAt(machine.timeline, nowMs)?.state;
      return state === 'running' || state === 'gone' ? state : 'off';
    },
    nextChangeMs: (nowMs) => nextStepMs(machine.timeline, nowMs),
    scripts: () => [machine.script],
    openMetadata: () => () => new Response('There is no metadata.', { status: 404 }),
    environment: () => ({ MEMORY_NAME: machine.name }),
    poweredOff: () => cloud.shutDown(machine),
  };
}

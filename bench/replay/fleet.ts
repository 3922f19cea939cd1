// Nodes of eight GPUs on a virtual clock: tasks come, run and end; a policy asks for nodes and gives them back.
import type { VirtualClock } from '#core/virtual-clock.ts';
import type { Task } from './trace.ts';

export const GPUS_PER_NODE = 8;
/** From the request to Ready. */
export const BOOT_MS = 240_000;
/** So long a task does nothing when it is moved. */
const MOVE_MS = 60_000;

export interface FleetNode {
  readonly name: string;
  readonly askedAtMs: number;
  readonly tasks: Set<Task>;
  isReady: boolean;
  /** GPUs that no task has. */
  free: number;
  /** Since when it has had no task; of a node that is not ready it means nothing. */
  emptySinceMs: number;
  /** It takes no tasks. */
  isClosed: boolean;
}

/** What a policy sees, and what it may do. */
export interface Fleet {
  nowMs(): number;
  readonly nodes: ReadonlySet<FleetNode>;
  /** Tasks that no node has room for, the oldest first. */
  readonly waiting: ReadonlySet<Task>;
  ask(count: number): void;
  /** Opened ones take tasks at once. */
  setClosed(node: FleetNode, isClosed: boolean): void;
  /** Nodes with tasks stay. */
  remove(node: FleetNode): void;
  /** Begins on another node what it did on this one, and runs on after a while; where no node has room, it waits. */
  move(task: Task, from: FleetNode): void;
}

export interface Policy {
  readonly name: string;
  /** How long after something has happened it looks. */
  readonly afterMs: number;
  /** It looks only at whole multiples of this. */
  readonly everyMs?: number;
  /** Acts, and answers when it must look again although nothing happens. */
  look(fleet: Fleet): number | undefined;
}

export interface Totals {
  readonly nodesAsked: number;
  readonly paidGpuMs: number;
  readonly usedGpuMs: number;
  /** Tasks that were moved. */
  readonly moves: number;
  readonly waitsMs: readonly number[];
}

export async function replay(tasks: readonly Task[], policy: Policy, clock: VirtualClock): Promise<Totals> {
  const startMs = clock.monotonic();
  const nowMs = (): number => clock.monotonic() - startMs;
  const nodes = new Set<FleetNode>();
  const waiting = new Set<Task>();
  const waitsMs: number[] = [];
  const totals = { nodesAsked: 0, paidGpuMs: 0, usedGpuMs: 0, moves: 0 };
  const ends = new Map<Task, { readonly atMs: number; cancel(): void }>();
  /** Of tasks that wait for a second time: what is left of them. */
  const leftMs = new Map<Task, number>();
  let running = 0;
  let look: { readonly atMs: number; cancel(): void } | undefined;

  /** As a scheduler does that packs: the node that is fullest. */
  function place(task: Task): boolean {
    let best: FleetNode | undefined;
    for (const node of nodes) {
      if (!node.isReady || node.isClosed || node.free < task.gpus) continue;
      if (!best || node.free < best.free) best = node;
    }
    if (!best) return false;
    start(task, best);
    return true;
  }

  function start(task: Task, node: FleetNode): void {
    node.tasks.add(task);
    node.free -= task.gpus;
    running += 1;
    const left = leftMs.get(task);
    if (left === undefined) {
      waitsMs.push(nowMs() - task.atMs);
      totals.usedGpuMs += task.gpus * task.runMs;
    }
    const runMs = left ?? task.runMs;
    const cancel = clock.alarm(runMs, () => {
      leave(task, node);
      changed();
    });
    ends.set(task, { atMs: nowMs() + runMs, cancel });
  }

  function leave(task: Task, node: FleetNode): void {
    ends.get(task)?.cancel();
    ends.delete(task);
    node.tasks.delete(task);
    node.free += task.gpus;
    running -= 1;
    if (node.tasks.size === 0) node.emptySinceMs = nowMs();
  }

  function changed(): void {
    for (const task of waiting) if (place(task)) waiting.delete(task);
    lookAt(nowMs() + policy.afterMs);
  }

  function lookAt(atMs: number): void {
    const { everyMs = 1 } = policy;
    const roundMs = Math.ceil(atMs / everyMs) * everyMs;
    if (look && look.atMs <= roundMs) return;
    look?.cancel();
    const cancel = clock.alarm(roundMs - nowMs(), () => {
      look = undefined;
      const dueMs = policy.look(fleet);
      if (dueMs !== undefined) lookAt(Math.max(dueMs, nowMs() + 1));
    });
    look = { atMs: roundMs, cancel };
  }

  const fleet: Fleet = {
    nowMs,
    move,
    nodes,
    waiting,
    ask(count) {
      for (let made = 0; made < count; made++) {
        const name = `n${totals.nodesAsked++}`;
        const node: FleetNode = {
          ...{ name, askedAtMs: nowMs(), tasks: new Set<Task>(), isReady: false, free: GPUS_PER_NODE },
          ...{ emptySinceMs: 0, isClosed: false },
        };
        nodes.add(node);
        clock.alarm(BOOT_MS, () => {
          if (!nodes.has(node)) return;
          node.isReady = true;
          node.emptySinceMs = nowMs();
          changed();
        });
      }
    },
    setClosed(node, isClosed) {
      node.isClosed = isClosed;
      if (!isClosed) changed();
    },
    remove(node) {
      if (node.tasks.size > 0 || !nodes.delete(node)) return;
      totals.paidGpuMs += (nowMs() - node.askedAtMs) * GPUS_PER_NODE;
    },
  };

  function move(task: Task, from: FleetNode): void {
    const { atMs } = ends.get(task) ?? { atMs: nowMs() };
    leave(task, from);
    leftMs.set(task, atMs - nowMs() + MOVE_MS);
    totals.moves += 1;
    if (!place(task)) waiting.add(task);
  }

  let isOver = tasks.length === 0;
  for (const [at, task] of tasks.entries()) {
    clock.alarm(task.atMs, () => {
      isOver = at === tasks.length - 1;
      if (!place(task)) waiting.add(task);
      lookAt(nowMs() + policy.afterMs);
    });
  }
  while (!isOver || running + waiting.size > 0) await clock.advance(clock.nextAlarmMs() ?? 0);
  for (const node of nodes) totals.paidGpuMs += (nowMs() - node.askedAtMs) * GPUS_PER_NODE;
  return { ...totals, waitsMs };
}

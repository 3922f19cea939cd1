// A recorded GPU workload: one task a line, as Alibaba's cluster-trace-gpu-v2023 writes them.
import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';

export interface Task {
  readonly name: string;
  /** From the start of the replay. */
  readonly atMs: number;
  readonly gpus: number;
  readonly runMs: number;
}

export interface TraceOptions {
  /** Tasks that were created in the last days of the trace. */
  readonly days: number;
  /** The same tasks so many times at once, each copy shifted against the one before. */
  readonly copies: number;
}

const COLUMNS = ['name', 'num_gpu', 'creation_time', 'scheduled_time', 'deletion_time'] as const;
type Column = (typeof COLUMNS)[number];

function rowsOf(text: string): readonly Readonly<Record<Column, string>>[] {
  const [heading = '', ...lines] = text.trim().split('\n');
  const titles = heading.trim().split(',');
  const missing = COLUMNS.filter((column) => !titles.includes(column));
  if (missing.length > 0)
    throw new Fault('invalid', `The trace has no column ${missing.join(', ')}.`, {
      remedy: 'Give it a list of pods of cluster-trace-gpu-v2023.',
    });
  return lines.map((line) => {
    const cells = line.trim().split(',');
    return Object.fromEntries(COLUMNS.map((column) => [column, cells[titles.indexOf(column)] ?? ''])) as Record<
      Column,
      string
    >;
  });
}

/** Tasks that ask for GPUs and ran: a share of a GPU counts as a whole one. */
export function readTrace(text: string, { days, copies }: TraceOptions): readonly Task[] {
  const rows = rowsOf(text);
  const endMs = Math.max(...rows.map((row) => Number(row.deletion_time))) * SECOND_MS;
  const spanMs = days * DAY_MS;
  const startMs = endMs - spanMs;
  const tasks = rows.flatMap((row): Task[] => {
    const gpus = Number(row.num_gpu);
    // One that runs when the replay begins is there from its beginning.
    const fromMs = Math.max(0, Number(row.scheduled_time) * SECOND_MS - startMs);
    const untilMs = Number(row.deletion_time) * SECOND_MS - startMs;
    const atMs = Math.max(0, Number(row.creation_time) * SECOND_MS - startMs);
    const hasRun = row.scheduled_time !== '' && untilMs > fromMs;
    return gpus > 0 && hasRun ? [{ name: row.name, atMs, gpus, runMs: untilMs - fromMs }] : [];
  });
  const copied = Array.from({ length: copies }, (_, copy) =>
    tasks.flatMap((task) => shifted(task, { copy, byMs: (copy * spanMs) / copies, spanMs })),
  );
  return copied.flat().toSorted((a, b) => a.atMs - b.atMs);
}

/** Time goes round: what would run beyond the end runs on from the beginning, so that the load is the same at any shift. */
function shifted(task: Task, { copy, byMs, spanMs }: { copy: number; byMs: number; spanMs: number }): readonly Task[] {
  const name = `${task.name}-${copy}`;
  const atMs = (task.atMs + byMs) % spanMs;
  const beyondMs = atMs + task.runMs - spanMs;
  if (copy === 0 || beyondMs <= 0) return [{ ...task, name, atMs }];
  return [
    { ...task, name, atMs, runMs: task.runMs - beyondMs },
    { ...task, name: `${name}-rest`, atMs: 0, runMs: beyondMs },
  ];
}

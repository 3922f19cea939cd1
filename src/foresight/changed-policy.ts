import type { KnownKinds } from '#config/kinds.ts';
import { readPool } from '#config/pool-document.ts';
import { describeProblem } from '#config/problem.ts';
import { nodeOf } from '#config/tree.ts';
import { wholeDocument } from '#config/write-pool.ts';
import { Fault } from '#core/fault.ts';
import type { PoolSpec } from '#core/pool.ts';

/** What of a definition decides the size of its pool. */
export type SizePolicy = Pick<PoolSpec, 'scaling' | 'schedules' | 'waitTarget'>;

const UNDER = 'auto_scaler.';
const BACKEND_KEYS = ['backend', 'backends'];

/** The policy of a pool with other values under `auto_scaler`, checked as a document would be; null takes a key out. */
export function changedPolicy(
  spec: PoolSpec,
  set: Readonly<Record<string, unknown>>,
  { backends: kinds }: Pick<KnownKinds, 'backends'>,
): SizePolicy & { readonly warnings: readonly string[] } {
  const backend = BACKEND_KEYS.find((key) => key in set);
  if (backend !== undefined) throw otherMachines(backend);
  const { auto_scaler: scaler, ...rest } = wholeDocument(spec, kinds) as { auto_scaler?: object };
  const document = { ...rest, auto_scaler: withValues(scaler ?? {}, set) };
  const { spec: changed, problems, warnings } = readPool(nodeOf(document), { kinds, trust: 'operator' });
  const worded = (path: string, message: string): string =>
    describeProblem({ path: path.startsWith(UNDER) ? path.slice(UNDER.length) : path, message });
  if (!changed) {
    const lines = problems.map(({ path, message }) => worded(path, message));
    throw new Fault('invalid', lines.join('\n'), {
      at: 'set',
      remedy: 'Name keys of `auto_scaler` as a pool document.',
    });
  }
  const { scaling, schedules, waitTarget } = changed;
  return { scaling, schedules, waitTarget, warnings: warnings.map(({ path, message }) => worded(path, message)) };
}

function withValues(scaler: object, set: Readonly<Record<string, unknown>>): object {
  const changed = Object.entries({ ...scaler, ...set });
  return Object.fromEntries(changed.filter(([, value]) => value !== null));
}

const otherMachines = (key: string): Fault =>
  new Fault('invalid', `${key} says which machines a pool has, and the history says nothing of others.`, {
    at: 'set',
    remedy: 'Set keys that decide how many there are, such as min_idle_agents.',
  });

import type { KnownKinds } from '#config/kinds.ts';
import { readPool } from '#config/pool-document.ts';
import { describeProblem, problemsFault } from '#config/problem.ts';
import { nodeOf } from '#config/tree.ts';
import { wholeDocument } from '#config/write-pool.ts';
import { Fault } from '#core/fault.ts';
import type { SizePolicy } from '#core/forecast.ts';
import type { PoolSpec } from '#core/pool.ts';
import { launchesASession as expected } from './launches-a-session.ts';

const UNDER = 'auto_scaler.';
const BACKEND_KEYS = ['backend', 'backends'];

/** A policy, and what of it would surprise the one who pays. */
export type WarnedPolicy = SizePolicy & { readonly warnings: readonly string[] };

/** The policy of a pool with other values under `auto_scaler`, checked as a document would be; null takes a key out. */
export function changedPolicy(
  spec: PoolSpec,
  set: Readonly<Record<string, unknown>>,
  { backends: kinds }: Pick<KnownKinds, 'backends'>,
): WarnedPolicy {
  const backend = BACKEND_KEYS.find((key) => key in set);
  if (backend !== undefined) throw otherMachines(backend);
  const { auto_scaler: scaler, ...rest } = wholeDocument(spec, kinds) as { auto_scaler?: object };
  const document = { ...rest, auto_scaler: withValues(scaler ?? {}, set) };
  const { spec: changed, problems, warnings } = readPool(nodeOf(document), { kinds, trust: 'operator', expected });
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

/** That of a document; its machines are not looked at: they are those of the pool. */
export function policyOfDocument(
  text: string,
  pool: string,
  { backends: kinds }: Pick<KnownKinds, 'backends'>,
): WarnedPolicy {
  const { spec, problems, warnings } = readPool(text, { kinds, trust: 'operator', expected });
  if (!spec) throw problemsFault(problems, undefined, 'Correct these problems.');
  if (spec.name !== pool)
    throw new Fault('invalid', `The document defines pool ${spec.name}, not ${pool}.`, { at: 'name' });
  const { scaling, schedules, waitTarget } = spec;
  const worded = warnings.map(({ path, message }) => describeProblem({ path, message }));
  return { scaling, ...(schedules && { schedules }), ...(waitTarget && { waitTarget }), warnings: worded };
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

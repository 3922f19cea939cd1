import type { Operation } from '../compute/api.ts';
import { followed } from '../compute/operation.ts';
import type { Group } from '../instance-group/group.ts';

// A group takes a change in within a second or two, and carries it out later.
const TAKEN_IN_MS = 20_000;

interface Change {
  readonly method?: 'POST' | 'DELETE';
  /** Below the group. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Sends a change, and waits until Google has taken it in; what it then refuses is thrown. */
export async function sendChange(group: Group, { method = 'POST', path, ...rest }: Change, signal: AbortSignal) {
  const { compute, place, name } = group;
  const operation = await compute.ask<Operation>({ method, path: `${group.path}${path}`, ...rest }, signal);
  const what = `${method} ${path || '/'} of ${name}`;
  await followed(compute, operation, { place, what, withinMs: TAKEN_IN_MS }, signal);
}

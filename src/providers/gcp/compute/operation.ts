import { hash } from 'node:crypto';
import { finished, type Progress } from '#rest/retry.ts';
import type { Operation } from './api.ts';
import type { Compute } from './client.ts';
import { faultOfErrors } from './faults.ts';

export interface FollowOptions {
  /** `zones/us-central1-a` or `regions/us-central1`: where the operation is. */
  readonly place: string;
  /** For messages: `createInstances of velda-workers`. */
  readonly what: string;
  readonly withinMs: number;
}

const LOOK_EVERY_MS = 1_000;

/** Waits until an operation is done, and answers it; one that failed is thrown as a fault. */
export async function followed(
  { ask, clock }: Compute,
  operation: Operation,
  { place, what, withinMs }: FollowOptions,
  signal: AbortSignal,
): Promise<Operation> {
  let known: Operation | undefined = operation;
  const options = { clock, signal, what, withinMs, everyMs: LOOK_EVERY_MS };
  return finished(options, async (): Promise<Progress<Operation>> => {
    const now = known ?? (await ask<Operation>({ path: `/${place}/operations/${operation.name}` }, signal));
    const { status, error } = now;
    known = undefined;
    if (status !== 'DONE') return {};
    if (error) throw faultOfErrors(what, error.errors ?? []);
    return { done: now };
  });
}

/** A UUID that is the same for the same words: Google carries out a request id once, however often it comes. */
export function requestIdFor(...words: readonly string[]): string {
  const hex = hash('sha256', words.join('\n'));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

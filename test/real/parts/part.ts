import type { TestContext } from 'vitest';

/** A part that cannot be had on this machine, and why. */
export interface Missing {
  readonly missing: string;
}

/** An outside part, or what is missing. */
export type Part<T extends object> = T | Missing;

export function isMissing(part: object): part is Missing {
  return 'missing' in part;
}

/** The part; where it cannot be had the test ends as skipped, with the reason. */
export function needed<T extends object>(context: Pick<TestContext, 'skip'>, part: Part<T>): T {
  if (isMissing(part)) context.skip(`needs ${part.missing}`);
  return part as T;
}

import type { Budget } from '#core/budget.ts';
import { matchesPattern } from '#core/name-pattern.ts';
import type { Payer } from './meter.ts';

/** Whether a budget covers the machines of a pool, or of computers. */
export function covers({ pools, sources }: Budget, { use, name, source }: Payer): boolean {
  if (pools === undefined && sources === undefined) return true;
  if (use === 'computer') return false;
  const isNamed = pools === undefined || (name !== undefined && pools.some((pattern) => matchesPattern(pattern, name)));
  return isNamed && (sources === undefined || (source !== undefined && sources.includes(source)));
}

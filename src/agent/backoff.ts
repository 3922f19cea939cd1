import type { Random } from '#core/random.ts';

const FIRST_MS = 200;
const FACTOR = 1.6;
const LONGEST_MS = 15_000;
const SLOW_MS = 60_000;

/** How a connection ended: its gRPC status. */
export interface Ending {
  readonly code: number;
  readonly details: string;
}

// INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED: trying again at once changes nothing.
const REFUSALS: ReadonlySet<number> = new Set([3, 7, 16]);
// ABORTED: another process has our name; if both hurry, they displace each other again and again.
const SUPERSEDED = 10;

// RESOURCE_EXHAUSTED: too many callers are about to prove who they are; the next attempt may be in time.
const CROWDED = 8;

export const isRefusedByServer = ({ code }: Ending): boolean => REFUSALS.has(code);

/** The server itself refused: its other addresses would answer the same. */
export const isFromServer = (ending: Ending): boolean =>
  isRefusedByServer(ending) || ending.code === SUPERSEDED || ending.code === CROWDED;

// Agents that lose one address at the same moment should not all reach the next one at once.
const NEXT_ADDRESS_MS = 200;

/** How long to wait before the next address is tried. */
export const nextAddressDelayMs = (random: Random): number => NEXT_ADDRESS_MS * random.next();

/** How long to wait after `failures` connections in a row that were not accepted; with a jitter of ± 50 %, so that agents do not reconnect all at once. */
export function reconnectDelayMs(ending: Ending, failures: number, random: Random): number {
  const grownMs = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** Math.min(failures, 20));
  const otherwiseMs = ending.code === SUPERSEDED ? LONGEST_MS : grownMs;
  return (isRefusedByServer(ending) ? SLOW_MS : otherwiseMs) * (0.5 + random.next());
}

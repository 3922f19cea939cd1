// What the machine itself can do, measured in the same run: targets are judged as ratios to it, because the same commit
// gives figures that differ three times from one machine to another.
import type { Measure } from './measures.ts';

export const YARDSTICKS = {
  'machine-js': { what: 'a fixed piece of JavaScript: maps, texts, JSON, sorting', unit: 'ms' },
  'machine-row': { what: 'a bare durable row on SQLite, each waiting for the disk', unit: 'µs' },
  'machine-http': { what: 'processor time of a bare HTTP answer of the size of a session, 64 callers', unit: 'µs' },
  'machine-wait': { what: 'p99 of that answer', unit: 'ms' },
  'machine-echo': { what: 'processor time of a bare echo on 100 gRPC streams', unit: 'µs' },
  'machine-session': { what: 'a bare HTTP answer and a bare echo: the least that a session takes', unit: 'µs' },
} satisfies Record<string, Measure>;

export type YardstickName = keyof typeof YARDSTICKS;

/**
 * What each is where the design's absolute targets hold: the middle of seven runs (JavaScript and row: of three) on two
 * virtual cores of an AMD EPYC with little else running. A bare session took 78 µs there and the p99 of an answer 10 ms.
 * Their references stay at what they were under load: lower ones would make the targets that they move easier to meet.
 */
export const REFERENCE: Readonly<Record<YardstickName, number>> = {
  'machine-js': 16,
  'machine-row': 217,
  'machine-http': 34,
  'machine-wait': 14,
  'machine-echo': 43,
  'machine-session': 120,
};

/** Yardsticks of this run, as far as they were measured. */
export type Measured = Partial<Record<YardstickName, number>>;

/** How much slower this machine is now than the reference, by one yardstick; 1 where it was not measured. */
export function slowness(name: YardstickName | undefined, measured: Measured): number {
  const now = name === undefined ? undefined : measured[name];
  return name === undefined || now === undefined ? 1 : now / REFERENCE[name];
}

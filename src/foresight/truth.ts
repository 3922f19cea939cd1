// What really happened to a pool in a stretch of time, in the figures of the model.
import { HOUR_MS } from '#core/clock.ts';
import type { PoolFigures } from '#core/forecast.ts';
import { dollarsBetween } from '#core/machine-price.ts';
import { isRefused, type Past, type PastMachine } from './past.ts';
import { waitsOf } from './waits.ts';

export function truthOf(past: Past): PoolFigures {
  const { sessions, machines, fromMs, untilMs } = past;
  const asked = machines.filter(({ askedAt }) => askedAt >= fromMs && askedAt < untilMs);
  const made = machines.filter(({ createdAt }) => createdAt !== undefined);
  const spans = made.map((machine) => spanOf(machine, past)).filter(({ startMs, endMs }) => endMs > startMs);
  return {
    sessions: sessions.length,
    unplaced: sessions.filter(({ placedMs = Number.POSITIVE_INFINITY }) => placedMs > untilMs).length,
    waits: waitsOf(sessions.map(({ atMs, placedMs = untilMs }) => Math.min(placedMs, untilMs) - atMs)),
    launches: asked.length,
    refused: asked.filter(isRefused).length,
    machineHours: spans.reduce((sum, { startMs, endMs }) => sum + (endMs - startMs) / HOUR_MS, 0),
    dollars: spans.reduce(
      (sum, { machine, startMs, endMs }) => sum + dollarsBetween(machine.prices, startMs, endMs),
      0,
    ),
    machinesWithoutPrice: spans.filter(({ machine }) => (machine.prices?.length ?? 0) === 0).length,
  };
}

function spanOf(machine: PastMachine, { fromMs, untilMs }: Past) {
  const { createdAt = untilMs, endedAt = untilMs } = machine;
  return { machine, startMs: Math.max(createdAt, fromMs), endMs: Math.min(endedAt, untilMs) };
}

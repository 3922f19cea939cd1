import { describe, expect, it } from 'vitest';
import type { Agent } from '#core/machine.ts';
import { put } from '#core/store.ts';
import { aPool } from '#core/testing/pool.ts';
import type { Worker } from '#core/worker.ts';
import { offersNow, withReportedSlots } from './pool-model.ts';
import { openRecords } from './testing/recorded-pool.ts';

const pool = aPool({ slotsPerAgent: 1 });

function connected(id: string, askedAt: number, slots: number, { isLaunched = true } = {}) {
  const offer = isLaunched ? 'shape1' : undefined;
  const worker: Worker = { id, pool: pool.id, machine: id, offer, askedAt };
  const agent: Agent = {
    ...{ id, use: 'worker', owner: pool.id, epoch: 1, slots, labels: {}, wire: 'muster', version: '1' },
    ...{ hostname: id, address: '10.0.0.1', connectedAt: askedAt },
  };
  return [put('workers', worker), put('agents', agent)];
}

describe('a pool as the model knows it', () => {
  it('has the slots that the newest of its launched agents reports, or else those of its definition', async () => {
    const { store } = await openRecords([...connected('old', 1, 2), ...connected('new', 2, 4)]);
    await store.commit([...connected('drains', 3, 0), ...connected('by-itself', 4, 8, { isLaunched: false })]);
    const empty = await openRecords([]);

    expect(withReportedSlots(store, pool, pool.spec.scaling).slotsPerAgent).toBe(4);
    expect(withReportedSlots(empty.store, pool, pool.spec.scaling)).toBe(pool.spec.scaling);
  });

  it('has its offers in order, by their own price or by that of their cloud', () => {
    const offers = ['a', 'b'].map((id) => ({ id, kind: 'sim', config: {} }));
    const priced = aPool({}, { offers, terms: { a: { pricePerHour: 3, maxAgents: 2 } } });

    expect(offersNow(priced, { priceOf: () => 5 })).toEqual([
      { id: 'a', pricePerHour: 3, maxAgents: 2 },
      { id: 'b', pricePerHour: 5 },
    ]);
  });
});

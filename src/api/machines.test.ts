import { expect, it } from 'vitest';
import { idsFrom } from '#core/id.ts';
import type { EndedMachine } from '#core/machine.ts';
import { append } from '#core/store.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { EndedMachineList } from './wire/machine.ts';

const gpu = poolWithSecret('gpu');
const AT = Date.UTC(2026, 0, 1);
const minute = (at: number): string => new Date(AT + at * 60_000).toISOString();

const ended = (at: number, more: Partial<EndedMachine> = {}): EndedMachine => ({
  ...{ id: `${idsFrom(AT + at * 60_000)}0000x`, machine: `m-${at}`, use: 'worker', owner: gpu.id, offer: 'o1' },
  ...{ kind: 'sim', askedAt: AT, endedAt: AT + at * 60_000, how: 'removed' },
  ...more,
});

async function world() {
  const prices = [{ from: AT, perHour: 0.25 }];
  const fault = { kind: 'quota' as const, message: 'No more.' };
  return apiWorld({
    rows: [
      row('pools', gpu),
      append('endedMachines', ended(1, { createdAt: AT + 1_000, joinedAt: AT + 2_000, prices })),
      append('endedMachines', ended(2, { how: 'failed', fault })),
      append('endedMachines', ended(3, { owner: 'id-gone', how: 'gone' })),
    ],
  });
}

const list = async (query: string): Promise<EndedMachineList> =>
  (await (await world()).call('GET', `/api/v1/machines/ended?${query}`)).json<EndedMachineList>();

it('lists ended machines page by page, the last that ended first', async () => {
  const first = await list('limit=2');
  const second = await list(`limit=2&after=${first.next}`);

  expect(first.items.map(({ machine, owner, how }) => [machine, owner, how])).toEqual([
    ['m-3', 'id-gone', 'gone'],
    ['m-2', 'gpu', 'failed'],
  ]);
  expect(second.items).toEqual([
    {
      ...{
        id: expect.any(String),
        machine: 'm-1',
        use: 'worker',
        owner: 'gpu',
        offer: 'o1',
        kind: 'sim',
        how: 'removed',
      },
      asked_at: minute(0),
      created_at: '2026-01-01T00:00:01.000Z',
      joined_at: '2026-01-01T00:00:02.000Z',
      ended_at: minute(1),
      prices: [{ from: minute(0), per_hour: 0.25 }],
    },
  ]);
  expect(second.next).toBeUndefined();
});

it.each([
  ['owner=gpu', ['m-2', 'm-1']],
  [`owner=${gpu.id}`, ['m-2', 'm-1']],
  ['owner=id-gone', ['m-3']],
  ['machine=m-2', ['m-2']],
  [`since=${minute(2)}`, ['m-3', 'm-2']],
  [`until=${minute(2)}`, ['m-1']],
  [`since=${minute(2)}&until=${minute(3)}&owner=gpu`, ['m-2']],
])('finds ended machines by %s', async (query, machines) => {
  expect((await list(query)).items.map(({ machine }) => machine)).toEqual(machines);
});

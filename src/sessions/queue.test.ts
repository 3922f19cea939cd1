import { expect, test } from 'vitest';
import type { Session } from '#core/session.ts';
import { makePoolQueue, type PoolQueue, type Seat } from './queue.ts';
import { specOf } from './testing/scene.ts';

function waiting(id: string, more: Partial<Session['spec']> = {}, refusedBy?: readonly string[]): Session {
  const spec = specOf(more);
  return { id, pool: 'gpu', poolName: 'gpu', spec, acceptedAt: 0, by: 'me', attempt: 0, refusedBy };
}

function seat(id: string, more: Partial<Seat> = {}): Seat {
  return { id, free: 1, connectedAt: 0, labels: {}, ...more };
}

function takeAll(queue: PoolQueue): string[] {
  const taken: string[] = [];
  for (let match = queue.take(); match; match = queue.take()) taken.push(`${match.session.id}@${match.agent}`);
  return taken;
}

test('takes the lowest priority number first, and within it the first that came', () => {
  const queue = makePoolQueue();
  queue.add(waiting('b', { priority: 1 }));
  queue.add(waiting('d', { priority: 0 }));
  queue.add(waiting('a', { priority: 1 }));
  queue.add(waiting('c', { priority: -1 }));
  queue.seat('m-1', seat('m-1', { free: 9 }));

  expect(takeAll(queue)).toEqual(['c@m-1', 'd@m-1', 'a@m-1', 'b@m-1']);
});

test('fills up the fullest agent before it touches an idle one, and of equals the one connected longest', () => {
  const queue = makePoolQueue();
  queue.seat('idle', seat('idle', { free: 4 }));
  queue.seat('late', seat('late', { free: 2, connectedAt: 20 }));
  queue.seat('early', seat('early', { free: 2, connectedAt: 10 }));
  for (const id of ['a', 'b', 'c', 'd', 'e']) queue.add(waiting(id));

  expect(takeAll(queue)).toEqual(['a@early', 'b@early', 'c@late', 'd@late', 'e@idle']);
});

test('a session whose labels no agent offers does not block those behind it', () => {
  const queue = makePoolQueue();
  queue.add(waiting('a', { labels: { gpu: 'h100' } }));
  queue.add(waiting('b'));
  queue.add(waiting('c', { labels: { gpu: 'a100', zone: 'x' } }));
  queue.seat('m-1', seat('m-1', { labels: { zone: 'x', gpu: 'a100' } }));
  queue.seat('m-2', seat('m-2', { labels: {} }));

  expect(takeAll(queue)).toEqual(['b@m-1']);

  queue.seat('m-1', seat('m-1', { labels: { zone: 'x', gpu: 'a100' } }));
  expect(takeAll(queue)).toEqual(['c@m-1']);

  queue.seat('m-3', seat('m-3', { labels: { gpu: 'h100' } }));
  expect(takeAll(queue)).toEqual(['a@m-3']);
});

test('an agent that has refused a session is asked again only where there is no other', () => {
  const queue = makePoolQueue();
  queue.seat('full', seat('full', { free: 1 }));
  queue.seat('idle', seat('idle', { free: 2 }));
  queue.add(waiting('a', {}, ['full']));
  queue.add(waiting('b', {}, ['full', 'idle']));

  expect(takeAll(queue)).toEqual(['a@idle', 'b@full']);
});

test('a removed session and a seat that went are not taken', () => {
  const queue = makePoolQueue();
  queue.add(waiting('a'));
  queue.add(waiting('b'));
  queue.seat('m-1', seat('m-1', { free: 1 }));
  queue.seat('m-2', seat('m-2', { free: 1 }));

  queue.remove(waiting('a'));
  queue.seat('m-1', undefined);

  expect(takeAll(queue)).toEqual(['b@m-2']);
});

test('a session that has just come takes the seat of the fullest agent that suits it, one slot each', () => {
  const queue = makePoolQueue();
  queue.seat('idle', seat('idle', { free: 3 }));
  queue.seat('full', seat('full', { free: 1 }));
  queue.seat('other', seat('other', { free: 1, labels: { zone: 'x' } }));

  const taken = ['a', 'b', 'c'].map((id) => queue.takeSeat(waiting(id, id === 'b' ? { labels: { zone: 'x' } } : {})));

  expect(taken).toEqual(['full', 'other', 'idle']);
  expect(queue.takeSeat(waiting('d', { labels: { zone: 'x' } }))).toBeUndefined();
});

test('and none while another waits that could take it; one that no seat suits is not waited for', () => {
  const queue = makePoolQueue();
  queue.seat('m-1', seat('m-1', { free: 2 }));
  queue.add(waiting('h', { labels: { gpu: 'h100' } }));
  expect(queue.takeSeat(waiting('a'))).toBe('m-1');

  queue.add(waiting('b'));

  expect(queue.takeSeat(waiting('c', { priority: -1 }))).toBeUndefined();
  expect(takeAll(queue)).toEqual(['b@m-1']);
});

test('forgets lanes that are empty, and knows all seats again when one like them opens', () => {
  const queue = makePoolQueue();
  queue.seat('m-1', seat('m-1', { free: 200, labels: { zone: 'x' } }));
  for (let n = 0; n < 100; n++) {
    queue.add(waiting(`s-${n}`, { labels: { zone: 'x', [`unknown-${n}`]: '1' } }));
    queue.remove(waiting(`s-${n}`, { labels: { zone: 'x', [`unknown-${n}`]: '1' } }));
  }

  queue.add(waiting('a', { labels: { zone: 'x' } }));

  expect(takeAll(queue)).toEqual(['a@m-1']);
});

import { expect, test } from 'vitest';
import { type HostRoom, noRoom, placeRuntime } from './placement.ts';

const room = (host: string, slots: number, used: number, isDrained = false): HostRoom => ({
  host,
  slots,
  used,
  isDrained,
});
const HOSTS = [room('a', 10, 5), room('b', 20, 2), room('c', 10, 9)];
const place = (placement: 'spread' | 'pack' | 'random', slots: number, hosts = HOSTS, random = 0) =>
  placeRuntime({ hosts, slots, placement, random })?.host;

test('spread takes the host with the smallest share in use, of equal ones the first', () => {
  expect(place('spread', 1)).toBe('b');
  expect(place('spread', 1, [room('x', 4, 2), room('y', 8, 4)])).toBe('x');
});

test('pack takes the fullest host that has room', () => {
  expect(place('pack', 1)).toBe('c');
  expect(place('pack', 2)).toBe('a');
});

test('random takes any host that has room, and no other', () => {
  expect(place('random', 2, HOSTS, 0)).toBe('a');
  expect(place('random', 2, HOSTS, 0.999)).toBe('b');
});

test('a drained host, and one without room, takes nothing', () => {
  expect(place('spread', 10, [room('a', 10, 0, true), room('b', 10, 1)])).toBeUndefined();
  expect(place('spread', 9, [room('a', 10, 0, true), room('b', 10, 1)])).toBe('b');
});

test('without room, the fault names the freest and the fullest host', () => {
  expect(noRoom('fixed', 10, [room('a', 20, 15), room('b', 20, 19), room('c', 20, 18)])).toMatchObject({
    kind: 'exhausted',
    message:
      'No host of fixed has 10 free slots: the freest, a has 5 of 20 slots free; the fullest, b has 1 of 20 slots free.',
  });
});

test('more slots than any host has is a mistake, and names the largest', () => {
  expect(noRoom('fixed', 21, HOSTS)).toMatchObject({
    kind: 'invalid',
    message: 'No host of fixed has 21 slots; the largest has 20.',
  });
});

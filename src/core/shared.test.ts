import { expect, it } from 'vitest';
import { openShared } from './shared.ts';

it('makes one thing for each key, and another for each server', () => {
  const [one, other] = [openShared(), openShared()];
  const made = [one('a', () => ({})), one('a', () => ({})), one('b', () => ({})), other('a', () => ({}))];

  expect(made[1]).toBe(made[0]);
  expect(new Set(made).size).toBe(3);
});

it('makes again what could not be opened', async () => {
  const shared = openShared();
  const refused = shared('a', () => Promise.reject(new Error('away')));

  await expect(refused).rejects.toThrow('away');
  expect(await shared('a', async () => 'here')).toBe('here');
});

import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { ADMIN, type ComputerWorld, openComputerWorld } from './testing/world.ts';

/** A server that starts from a backup which has the computer and not its machine. */
async function openRestored(): Promise<ComputerWorld & { readonly before: readonly string[] }> {
  const world = await openComputerWorld();
  await world.create('dev');
  const rows = [...world.disk.rows].map(([name, byId]) => [name, new Map(byId)] as const);
  await world.advance(MINUTE_MS);
  const before = world.made();
  world.crash();
  world.disk.rows.clear();
  for (const [name, byId] of rows) world.disk.rows.set(name, byId);
  world.disk.restoredAt = world.clock.now();
  await world.start();
  // The new process must be up: the one before answers nobody.
  await world.advance(1);
  return Object.assign(Object.create(world) as ComputerWorld, { before });
}

it('a computer from a restored backup has its machine again, whose agent joins; no other is made', async () => {
  const world = await openRestored();
  await world.advance(2 * MINUTE_MS);

  expect(world.made()).toEqual(world.before);
  expect(world.before).toHaveLength(1);
  expect(world.computers.find('dev')).toMatchObject({ status: 'running', isAgentHere: true });
  await world.advance(20 * MINUTE_MS);
  expect(world.statusOf('dev')).toBe('running');
});

it('a computer that is removed right after a restore takes along the machine that the backup did not know', async () => {
  const world = await openRestored();
  await world.computers.remove('dev', ADMIN);
  await world.advance(SECOND_MS);
  expect(world.statusOf('dev')).not.toBe('running');
  await world.advance(5 * MINUTE_MS);

  expect(world.statusOf('dev')).toBe('none');
  expect(world.made()).toEqual([]);
});

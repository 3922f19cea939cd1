import { describe, expect, test } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { SessionPlace } from '../tunnels/session-place.ts';
import { KEEP_FILES_MS, openEndedPlaces } from './ended-places.ts';

function thePlaces() {
  const clock = new VirtualClock();
  const removed: string[] = [];
  const disk = { freePart: 0.5, asked: [] as string[] };
  const places = openEndedPlaces({
    workDir: '/work',
    clock,
    remove: (name) => void removed.push(name),
    freePart(path) {
      disk.asked.push(path);
      return disk.freePart;
    },
  });
  const placeOf = (name: string) => async () => ({ session: name }) as SessionPlace;
  return { clock, removed, disk, places, add: (name: string) => places.add(name, placeOf(name)) };
}

describe('the files of an ended session', () => {
  test('stay for ten minutes, then they are removed, and the fault says since when', async () => {
    const { clock, removed, places, add } = thePlaces();
    add('s1.1');

    await clock.advance(KEEP_FILES_MS - 1);
    const there = await places.find('s1.1');
    const before = [...removed];
    await clock.advance(1);

    expect([there, before, removed, places.has('s1.1')]).toEqual([{ session: 's1.1' }, [], ['s1.1'], false]);
    await clock.advance(60_000);
    await expect(places.find('s1.1')).rejects.toMatchObject({
      kind: 'missing',
      message: 'The files of the session are gone from its worker since 2026-01-01T00:10:00.000Z.',
      remedy: expect.stringContaining('10 minutes'),
    });
    expect(removed).toEqual(['s1.1']);
  });

  test('that this agent has never had are gone too, and nothing is said about when', async () => {
    const { places } = thePlaces();

    await expect(places.find('s1.1')).rejects.toMatchObject({
      kind: 'missing',
      message: 'The files of the session are gone from its worker.',
    });
  });

  test('of a hundred sessions stay; for one more the oldest go, whose alarm then rings for nobody', async () => {
    const { clock, removed, places, add } = thePlaces();

    for (let n = 0; n < 102; n++) add(`s${n}.1`);
    const before = [...removed];
    const isThere = ['s1.1', 's2.1', 's101.1'].map(places.has);
    await clock.advance(KEEP_FILES_MS);

    expect(before).toEqual(['s0.1', 's1.1']);
    expect(isThere).toEqual([false, true, true]);
    expect(new Set(removed).size).toBe(102);
    expect(removed).toHaveLength(102);
  });

  test('make room for the next session where less than a tenth of the disk is free, and only then', () => {
    const { disk, removed, places, add } = thePlaces();
    places.makeRoom();
    const askedForNothing = [...disk.asked];
    for (const name of ['a.1', 'b.1']) add(name);

    places.makeRoom();
    disk.freePart = 0.1;
    places.makeRoom();
    const before = [...removed];
    disk.freePart = 0.099;
    places.makeRoom();

    expect([askedForNothing, before, removed]).toEqual([[], [], ['a.1', 'b.1']]);
    expect(new Set(disk.asked)).toEqual(new Set(['/work']));
  });

  test('go with the agent, and no alarm is left', () => {
    const { clock, removed, places, add } = thePlaces();
    for (const name of ['a.1', 'b.1']) add(name);

    places.dropAll();

    expect([removed, clock.nextAlarmMs()]).toEqual([['a.1', 'b.1'], undefined]);
  });

  test('that are gone are remembered for the last thousand sessions', async () => {
    const { places, add } = thePlaces();

    for (let n = 0; n <= 1_000; n++) add(`s${n}.1`);
    places.dropAll();

    await expect(places.find('s0.1')).rejects.toMatchObject({ message: expect.not.stringContaining('since') });
    await expect(places.find('s1.1')).rejects.toMatchObject({ message: expect.stringContaining('since') });
  });
});

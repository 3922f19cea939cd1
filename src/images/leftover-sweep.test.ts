import { expect, it } from 'vitest';
import { z } from 'zod';
import { openGate } from '#clouds/gate.ts';
import { knownKinds } from '#config/kinds.ts';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { BuildMark, ImageBuilder } from '#core/image-builder.ts';
import { type Context, kind } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { startJournal } from '#journal/journal.ts';
import { makeRedactor } from '#journal/redact.ts';
import { emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import feature from './index.ts';

/** A server whose file names these places; each has what builds have left there. */
async function openServer(places: readonly string[]) {
  const clock = new VirtualClock();
  const disk = emptyDisk();
  const store = await openStore(memoryDriver(disk), () => {});
  const logged: string[] = [];
  const base = {
    ...{ store, clock, random: seededRandom(1) },
    log: (_level: string, message: string, fields: object = {}) =>
      void logged.push(`${message} ${JSON.stringify(fields)}`),
  };
  const left = new Map<string, Map<string, BuildMark>>();
  const away = new Set<string>();

  function builderAt(name: string): ImageBuilder {
    const there = left.get(name) ?? new Map<string, BuildMark>();
    left.set(name, there);
    return {
      cloud: `memory:${name}`,
      async clean(isOver: (mark: BuildMark) => boolean) {
        if (away.has(name)) throw new Fault('denied', `${name} does not let us in.`);
        const over = [...there].filter(([, mark]) => isOver(mark)).map(([machine]) => machine);
        for (const machine of over) there.delete(machine);
        return over;
      },
    } as unknown as ImageBuilder;
  }

  const memory = kind({
    summary: 'A place.',
    config: z.object({ name: z.string() }),
    example: { name: 'a' },
    trust: 'operator only',
    open: async ({ name }) => builderAt(name),
  });
  const kinds = knownKinds([{ id: 'memory', title: 'In memory', images: { memory } }]);
  const section = (names: readonly string[]) => {
    const schema = feature.section?.schema(kinds);
    return schema?.parse({ sweep: names.map((name) => ({ memory: { name } })) }) ?? { sweep: [] };
  };
  const context = { ...base, cluster: 'c', fetch, shared: openShared(), dataDir: '/nowhere', agentCommand: [] };
  const journal = startJournal({ ...base, redactor: makeRedactor([]) });
  const running = feature.start({
    ...{ ...base, journal, kinds, gate: openGate(base) },
    context: context as Context,
    settings: section(places),
  });
  await clock.advance(MINUTE_MS);
  const events = () => disk.histories.events.map(({ kind: what, message }) => `${what}: ${message}`);
  return { clock, left, away, running, section, logged, events };
}

const leave = (there: Map<string, BuildMark> | undefined, name: string, startedAt: number) =>
  there?.set(name, { id: name, startedAt });

it('the server removes what builds have left for more than six hours, and says so; what may still run stays', async () => {
  const { clock, left, events, running } = await openServer(['west']);
  leave(left.get('west'), 'machine 1', clock.now());
  await clock.advance(5 * HOUR_MS);
  leave(left.get('west'), 'machine 2', clock.now());
  const before = [...(left.get('west')?.keys() ?? [])];

  await clock.advance(2 * HOUR_MS);

  expect(before).toEqual(['machine 1', 'machine 2']);
  expect([...(left.get('west')?.keys() ?? [])]).toEqual(['machine 2']);
  expect(events()).toEqual(['image.swept: Removed machine 1 in memory:west: a build of memory has left it.']);
  await running.stop();
});

it('a place that cannot be asked is named in the log and asked again; another is swept meanwhile, also one that a reload adds', async () => {
  const { clock, left, away, running, section, logged } = await openServer(['west', 'east']);
  const old = clock.now() - 9 * HOUR_MS;
  for (const [name, there] of left) leave(there, `machine of ${name}`, old);
  away.add('west');
  running.configure(section(['west', 'east', 'north']));
  await clock.advance(MINUTE_MS);
  leave(left.get('north'), 'machine of north', old);
  await clock.advance(HOUR_MS);
  const meanwhile = [...left].map(([name, there]) => [name, there.size]);
  away.delete('west');
  await clock.advance(HOUR_MS);

  expect(meanwhile).toEqual([
    ['west', 1],
    ['east', 0],
    ['north', 0],
  ]);
  expect(logged.join('\n')).toContain('west does not let us in.');
  expect(left.get('west')?.size).toBe(0);
  await running.stop();
});

import { expect, it } from 'vitest';
import { z } from 'zod';
import { openGate } from '#clouds/gate.ts';
import { knownKinds } from '#config/kinds.ts';
import type { LoadedConfig } from '#config/load.ts';
import { readServerFile } from '#config/server-file.ts';
import { testEnvironment } from '#config/testing.ts';
import type { Problem } from '#core/problem.ts';
import type { Provider } from '#core/provider.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { followConfig } from './reload.ts';
import { configuredSources } from './sources.ts';

/** A server whose configuration the test writes; its sources open after as long as they say. */
function open() {
  const clock = new VirtualClock();
  const closed: number[] = [];
  const slow = {
    id: 'slow',
    title: 'Slow',
    sources: {
      slow: {
        summary: 'Takes its time.',
        config: z.object({ ms: z.number() }),
        example: { ms: 1 },
        open: async ({ ms }: { ms: number }) => {
          await clock.sleep(ms);
          return { documents: async () => [], close: async () => void closed.push(ms) };
        },
      },
    },
  } as unknown as Provider;
  const kinds = knownKinds([slow]);
  const lease = { leftMs: Number.POSITIVE_INFINITY };
  const gate = openGate({ store: { durable: async () => {}, leaseLeftMs: () => lease.leftMs }, clock, log: () => {} });
  let text = '{}';
  async function load(): Promise<LoadedConfig> {
    const { value: config, problems } = readServerFile(text, {
      kinds: knownKinds([slow, { ...slow, sources: { plugged: slow.sources?.slow } } as Provider]),
      environment: testEnvironment(),
    });
    if (!config) throw new Error(JSON.stringify(problems));
    return { config, file: '/m.yaml', files: [], version: text, warnings: [] };
  }
  const events: string[] = [];
  const refusals: Problem[] = [];
  const configured: unknown[] = [];
  const features = { refuses: () => refusals, configure: (sections: unknown) => void configured.push(sections) };
  const opened: { id: string; source: { documents(): Promise<unknown> } }[][] = [];
  async function follow() {
    const ground = {
      clock,
      log: () => {},
      loaded: await load(),
      load,
      sources: configuredSources({ kinds, context: { log: () => {} } as never, gate }),
    };
    const store = { commit: async () => {} };
    const pools = { setSources: (sources: (typeof opened)[number]) => void opened.push(sources) };
    const journal = { event: ({ message }: { message: string }) => void events.push(message) };
    return followConfig({ ...ground, store } as never, { pools, journal, features } as never);
  }
  const write = (next: string): void => {
    text = next;
  };
  return { clock, opened, closed, follow, write, lease, events, refusals, configured };
}

it('the newest configuration wins, however long an older one takes to open', async () => {
  const { clock, opened, closed, follow, write } = open();
  const watch = await follow();

  write('provisioners: [{ name: second, slow: { ms: 1500 } }]');
  watch.poke();
  await clock.advance(100);
  write('provisioners: [{ name: third, slow: { ms: 0 } }]');
  watch.poke();
  await clock.advance(5_000);
  watch.stop();

  expect(opened.map((sources) => sources.map(({ id }) => id).filter((id) => id !== 'config'))).toEqual([['third']]);
  expect(closed).toEqual([1500]);
});

it('asks the features before anything is applied: what one refuses changes nothing', async () => {
  const { clock, opened, follow, write, events, refusals, configured } = open();
  const watch = await follow();

  write('provisioners: [{ name: a, slow: { ms: 0 } }]');
  refusals.push({ path: 'computers.library', message: 'is in use' });
  watch.poke();
  await clock.advance(1_000);
  expect({ opened, configured }).toEqual({ opened: [], configured: [] });
  expect(events).toEqual([expect.stringContaining('/m.yaml: computers.library: is in use')]);

  refusals.pop();
  watch.poke();
  await clock.advance(1_000);
  watch.stop();
  expect(opened).toHaveLength(1);
  expect(configured).toEqual([{}]);
});

it('keeps the source whose configuration is equal, and opens the one that changed', async () => {
  const { clock, opened, closed, follow, write } = open();
  const watch = await follow();
  const sourceOf = (turn: number, name: string) => opened[turn]?.find(({ id }) => id === name)?.source;

  write('provisioners: [{ name: a, slow: { ms: 1 } }, { name: b, slow: { ms: 2 } }]\nagent_pools: [{ name: p }]');
  watch.poke();
  await clock.advance(1_000);
  write(
    'provisioners: [{ name: b, update_interval: 9s, slow: { ms: 3 } }, { name: a, update_interval: 9s, slow: { ms: 1 } }]\nagent_pools: [{ name: p }]',
  );
  watch.poke();
  await clock.advance(1_000);
  watch.stop();

  expect(sourceOf(1, 'a')).toBe(sourceOf(0, 'a'));
  expect(sourceOf(1, 'config')).toBe(sourceOf(0, 'config'));
  expect(sourceOf(1, 'b')).not.toBe(sourceOf(0, 'b'));
  expect(closed).toEqual([]);
});

it('a source of a plug-in that only a restart loads says so, and the rest is applied', async () => {
  const { clock, opened, follow, write } = open();
  const watch = await follow();

  write('provisioners: [{ name: new, plugged: { ms: 0 } }, { name: old, slow: { ms: 0 } }]');
  watch.poke();
  await clock.advance(1_000);
  watch.stop();

  const source = opened.at(-1)?.find(({ id }) => id === 'new')?.source;
  expect(opened.at(-1)?.map(({ id }) => id)).toContain('old');
  await expect(source?.documents()).rejects.toMatchObject({
    kind: 'unsupported',
    remedy: 'Restart the server: `plugins` is read at the start.',
  });
});

it('no source is opened by a process that may no longer be the holder', async () => {
  const { clock, opened, follow, write, lease } = open();
  const watch = await follow();
  lease.leftMs = 0;

  write('provisioners: [{ name: second, slow: { ms: 0 } }]');
  watch.poke();
  await clock.advance(5_000);
  watch.stop();

  const second = opened.at(-1)?.find(({ id }) => id === 'second');
  await expect(second?.source.documents()).rejects.toThrow('open on second was not sent');
});

import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import simulation from './simulation.ts';

test('what it tells users is enough to reach it, and its end leaves nothing', async () => {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });

  const { clusters } = parse(readFileSync(running.environment.KUBECONFIG as string, 'utf8'));
  const { server } = clusters[0].cluster;
  const nodes = (await (await fetch(`${server}/api/v1/nodes`)).json()) as { items: { metadata: { name: string } }[] };

  expect(server).toBe(running.address);
  expect(nodes.items.map(({ metadata }) => metadata.name)).toEqual(['gpu-1', 'node-1', 'node-2']);
  await running.close();
  expect(existsSync(running.folder)).toBe(false);
});

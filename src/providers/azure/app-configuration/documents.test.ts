// From the block of the server's file to pools: what the registry makes of the key-values of a store.
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readPool } from '#config/pool-document.ts';
import { describeProblem } from '#config/problem.ts';
import { readServerFile } from '#config/server-file.ts';
import { SECOND_MS } from '#core/clock.ts';
import { opened, openWorld } from '#pools/testing/world.ts';
import provider from '../index.ts';
import { openScene } from '../testing.ts';

const kinds = knownKinds([provider]);

function readFile(keys: string) {
  const text = `provisioners: [{azure: {${keys}}}]`;
  const { value: config, problems = [] } = readServerFile(text, { kinds, environment: readEnvironment({}) });
  return { source: config?.sources[0], problems: problems.map((problem) => describeProblem(problem)) };
}

const STORE = 'endpoint: "https://velda-pools.azconfig.io"';

describe('the block', () => {
  it('is taken as the original has it, and known by store and prefix, however this is written', () => {
    for (const prefix of ['pools', 'pools/']) {
      const { source, problems } = readFile(`${STORE}, config_prefix: ${prefix}`);
      expect(problems).toEqual([]);
      expect(source).toMatchObject({ id: 'azure:velda-pools.azconfig.io/pools/', everyMs: 60_000 });
    }
    const { source } = readFile(`${STORE}, config_prefix: "", label: prod, update_interval: 5m`);
    expect(source).toMatchObject({ id: 'azure:velda-pools.azconfig.io/#prod', everyMs: 300_000 });
  });

  it.each([
    ['endpoint: velda-pools, config_prefix: pools/', 'must be the address of a store'],
    ['endpoint: "https://evil.example", config_prefix: pools/', 'must be the address of a store'],
    [
      'endpoint: "https://velda-pools.azconfig.io.evil.example", config_prefix: pools/',
      'must be the address of a store',
    ],
    ['endpoint: "https://velda-pools.azconfig.io/kv", config_prefix: pools/', 'must be the address of a store'],
    [STORE, 'config_prefix'],
    [`${STORE}, config_prefix: pools/, lable: prod`, 'label'],
  ])('is refused with %s', (keys, why) => {
    expect(readFile(keys).problems.join('\n')).toContain(why);
  });
});

it('key-values become pools, as JSON and as YAML, and one with a mistake is refused alone with its line', async () => {
  const scene = openScene();
  scene.store.put('pools/gpu-pool', '{"auto_scaler":{"max_agents":15},"name":"gpu-pool"}');
  scene.store.put('pools/ml/cpu', 'name: cpu\nauto_scaler: {max_agents: 3}\n');
  scene.store.put('pools/torn', '{\n  "name": "torn",\n  "auto_scaler": {\n');
  const world = await openWorld([opened('azure', await scene.openSource())], {
    clock: scene.clock,
    readPool(text, { trust }) {
      const read = readPool(text, { kinds: {}, trust });
      return read.problems ? { problems: read.problems } : { spec: read.spec };
    },
  });
  await scene.clock.advance(SECOND_MS);

  expect(['gpu-pool', 'cpu'].map((name) => world.pool(name)?.spec.scaling.maxAgents)).toEqual([15, 3]);
  expect(world.document('azure', 'pools/torn')?.fault?.message).toMatch(/^line 4, column 1: /);
});

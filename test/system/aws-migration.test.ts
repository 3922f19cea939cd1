// From pools in the file to pools in Parameter Store, as the migration guide says, while machines are at work.
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { throughout, until } from '#core/testing/until.ts';
import { type Api, apiOf } from './harness/api.ts';
import { gpuPool, serveAws } from './harness/aws.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld } from './harness/world.ts';

// Two listings that lack a pool drop it: this is time for many.
const LONG_MS = 4_000;

// $1 the file that ends it.
const UNTIL_TOLD = 'while [ ! -e "$1" ]; do sleep 0.1; done; echo done';

const phasesOf = async (api: Api): Promise<string[]> => (await api.workers()).map(({ phase }) => phase).toSorted();

test('pools move from the file to Parameter Store, and no worker stops', async (context) => {
  const world = openWorld(context);
  const aws = await serveAws(context, world);
  const pools = [gpuPool({}, { min_idle_agents: 1, max_idle_agents: 2 })];
  const place = await placeServer(world, { agent_pools: pools });
  const api = apiOf(world, place.http);
  const before = await startServer(world, place, aws.env).ready();
  await until('a machine has joined', async () => (await phasesOf(api)).includes('idle'));
  const { id } = await api.submit({ pool: 'gpu-pool', command: ['sh', '-c', UNTIL_TOLD, 'wait', world.path('go')] });
  await until('one is busy and one idle', async () => String(await phasesOf(api)) === 'busy,idle');
  const stood = { machines: aws.alive(), workers: await api.workers(), pool: await api.pool('gpu-pool') };

  for (const pool of pools) await aws.put(`/velda/pools/${pool.name}`, stringify(pool));
  place.configure({ provisioners: [{ aws: { config_prefix: '/velda/pools/', update_interval: '1s' } }] });
  before.signal('SIGTERM');
  await before.ended;
  await startServer(world, place, aws.env).ready();
  const moved = await until('it has moved', async () => {
    const pool = await api.pool('gpu-pool');
    return pool.owner.source !== 'config' && pool;
  });
  await until('the agents are back', async () => String(await phasesOf(api)) === 'busy,idle');
  await throughout(LONG_MS, () => expect(aws.alive()).toEqual(stood.machines));
  world.write('go', '');
  const session = await until('the session has ended', async () => {
    const found = await api.session(id);
    return found.end && found;
  });

  expect(moved).toMatchObject({
    id: stood.pool.id,
    owner: { source: 'aws:/velda/pools/', key: '/velda/pools/gpu-pool' },
  });
  expect(moved.removal).toBeUndefined();
  expect(moved.backends.map((backend) => backend.id)).toEqual(stood.pool.backends.map((backend) => backend.id));
  expect(session).toMatchObject({ attempt: 1, end: { how: 'exited', exit_code: 0 } });
  expect(await api.output(id)).toBe('done\n');
  expect(aws.alive()).toEqual(stood.machines);
  expect((await api.workers()).map(({ name }) => name)).toEqual(stood.workers.map(({ name }) => name));
  expect(await api.events('worker.draining')).toEqual([]);
  expect(await api.events('worker.gone')).toEqual([]);
  expect(aws.fake.countOf('TerminateInstances') + aws.fake.countOf('StopInstances')).toBe(0);
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { serveFake } from '#fakes/serve.ts';
import { openFakeAzure } from '../../src/providers/azure/fake/fake-azure.ts';
import azure from '../../src/providers/azure/index.ts';
import { needed } from './parts/part.ts';
import { pythonPrograms } from './parts/python.ts';
import { complaintOf, run } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-azure-containers.py');
const TOKEN = 'a token for an hour';
const OURS = 'c-dev-ours';
const going = (): AbortSignal => new AbortController().signal;

test("Azure's client for container instances makes, pages, stops and deletes groups, and reads what Muster made", async (context) => {
  const { program } = needed(context, await pythonPrograms());
  const fake = openFakeAzure(systemClock, { bootMs: 300, lagMs: 0, pageSize: 1 });
  const { world } = fake;
  world.granted.set(TOKEN, { who: 'referee', resource: 'https://management.azure.com', expiresAt: Number.MAX_VALUE });
  const served = await serveFake(fake.handle, { port: 0 });
  context.onTestFinished(() => served.close());
  const { address } = served;
  const parts: Context = {
    ...{ cluster: 'cluster1', clock: systemClock, random: systemRandom, log: silentLog, fetch, shared: openShared() },
    ...{ dataDir: '/nowhere', agentCommand: [] },
  };
  const { azure_container_instance: kind } = azure.backends;
  const place = { subscriptionId: world.subscriptionId, resourceGroup: 'velda', location: 'westeurope' };
  const image = 'velda.azurecr.io/private:1.2.0';
  const login = { registryUsername: 'velda', registryPassword: 'planted-registry-password' };
  const more = { cpus: 2, memoryGb: 4, env: { HF_TOKEN: 'planted' }, endpoint: address };
  world.isOpen = true;
  const backend = await kind.open(kind.config.parse({ ...place, image, ...login, ...more }), parts);
  const mark = { cluster: 'cluster1', use: 'computer', owner: 'c1', shape: 's1' } as const;
  const boot = { agentConfig: 'pool: dev\n', token: 'mlt_x', port: 8000 };
  const [made] = await backend.create({ id: 'l1', mark, names: [OURS], boot, askedAt: 0 }, going());
  world.isOpen = false;

  const words = [DRIVE, address, world.subscriptionId, TOKEN, OURS];
  const ran = await run(program('python'), words, { env: { ...process.env } as Record<string, string> });

  expect(made?.fault).toBeUndefined();
  expect(ran.code, complaintOf(ran)).toBe(0);
  expect(JSON.parse(ran.out)).toEqual({
    made: ['py-1', 'Succeeded', 'referee', 'Never'],
    state: ['Running', 'Running'],
    variables: [
      ['OPEN', '1', null],
      ['SECRET', null, null],
    ],
    address: ['Public', true, 80],
    pages: [1, 1],
    log: '',
    badImage: [400, 'InaccessibleImage'],
    badSize: [409, 'ServiceUnavailable'],
    badPort: [400, 'InvalidIPAddressPorts'],
    badField: [400, 'BadRequest'],
    badName: [400, 'InvalidContainerGroupName'],
    badGroup: [404, 'ResourceGroupNotFound'],
    missing: [404, 'ResourceNotFound'],
    // What we send means to Azure's client what we mean, and nobody is shown a secret.
    ours: {
      cluster: 'cluster1',
      policy: 'Never',
      container: ['agent', image, 2, 4],
      variables: [['HF_TOKEN', null, null]],
      mounts: [['agent-file', '/run/velda', true]],
      secret: {},
      port: ['Public', 8000, 'TCP'],
      login: [['velda.azurecr.io', 'velda', null]],
    },
    stopped: 'Stopped',
    gone: [404, 'ResourceNotFound'],
  });
});

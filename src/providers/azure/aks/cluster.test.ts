import { expect, it } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { going } from '#core/testing/going.ts';
import { whose } from '../fake/world.ts';
import { AKS_SERVER, CA, CLUSTER, openScene, SERVER } from '../testing.ts';

it('opens a cluster with Entra: address and authority from Azure, a token for API servers from Entra', async () => {
  const scene = openScene();
  const access = await scene.during(scene.open());
  const { headers, tls } = await scene.during(access.credential(going()));

  expect(access.server).toBe(SERVER);
  expect(tls).toEqual({ ca: CA });
  expect(whose(scene.fake.world, headers.authorization?.slice(7) ?? '', AKS_SERVER)).toBe('app1');
});

it('opens a cluster without Entra by its local account, and reads that again twice a day', async () => {
  const scene = openScene({ ...CLUSTER, localToken: 'local-1' });
  const access = await scene.during(scene.open());
  expect(await scene.during(access.credential(going()))).toEqual({
    headers: { authorization: 'Bearer local-1' },
    tls: { ca: CA, cert: 'certificate of velda-cluster', key: 'planted-key of velda-cluster' },
  });
  expect(scene.fake.calls.map(({ action }) => action)).toEqual(['entra.token', 'management.listClusterUserCredential']);

  scene.fake.world.clusters[0] = { ...CLUSTER, localToken: 'local-2' };
  await scene.clock.advance(12 * HOUR_MS);
  const { headers } = await scene.during(access.credential(going()));
  expect(headers.authorization).toBe('Bearer local-2');
});

it('by workload identity, with the token of the pod as it is now', async () => {
  const scene = openScene();
  delete scene.variables.AZURE_CLIENT_SECRET;
  scene.variables.AZURE_FEDERATED_TOKEN_FILE = '/run/token';
  scene.files.texts.set('/run/token', 'federated-1\n');
  scene.fake.world.proofs.set('app1', 'federated-1');
  const access = await scene.during(scene.open());
  await scene.during(access.credential(going()));
  scene.files.texts.set('/run/token', 'federated-2\n');
  scene.fake.world.proofs.set('app1', 'federated-2');
  access.refused?.();
  const { headers } = await scene.during(access.credential(going()));

  expect(whose(scene.fake.world, headers.authorization?.slice(7) ?? '', AKS_SERVER)).toBe('app1');
});

it('by the one of several identities of the machine that the environment names', async () => {
  const scene = openScene();
  delete scene.variables.AZURE_CLIENT_SECRET;
  scene.fake.world.machineIdentities.push('other', 'app1');
  const access = await scene.during(scene.open());
  const { headers } = await scene.during(access.credential(going()));

  expect(whose(scene.fake.world, headers.authorization?.slice(7) ?? '', AKS_SERVER)).toBe('app1');
});

it('half of an application is refused, and so is an unknown authority', async () => {
  const scene = openScene();
  delete scene.variables.AZURE_TENANT_ID;
  await expect(scene.during(scene.open())).rejects.toMatchObject({
    kind: 'invalid',
    message: 'AZURE_CLIENT_SECRET is set, and AZURE_TENANT_ID is not.',
  });

  scene.variables.AZURE_AUTHORITY_HOST = 'https://login.elsewhere.test/';
  await expect(scene.during(scene.open())).rejects.toMatchObject({ kind: 'unsupported' });
});

it('a mistyped cluster is refused with the nearest one, from all pages, and one of another group with that', async () => {
  const scene = openScene();
  const { world } = scene.fake;
  world.clusters.push({ ...CLUSTER, name: 'batch', resourceGroup: 'night' }, { ...CLUSTER, name: 'alpha' });
  world.largestPage = 1;
  const refusalOf = (changes: object) => scene.during(scene.open(changes)).catch((fault) => fault);

  expect(await refusalOf({ clusterName: 'alhpa' })).toMatchObject({
    kind: 'missing',
    remedy: 'Did you mean alpha in velda?',
  });
  expect(await refusalOf({ clusterName: 'batch' })).toMatchObject({
    remedy: 'Set resource_group to night: batch is there.',
  });
  expect(await refusalOf({ resourceGroup: 'nowhere' })).toMatchObject({
    remedy: 'Set resource_group to velda: velda-cluster is there.',
  });
  expect(await refusalOf({ clusterName: 'x' })).toMatchObject({
    remedy: 'The subscription has: velda-cluster in velda, batch in night, alpha in velda.',
  });
  world.denied.add('Microsoft.ContainerService/managedClusters/read');
  expect(await refusalOf({ clusterName: 'x' })).toMatchObject({
    kind: 'missing',
    remedy: 'Check subscription_id, resource_group and cluster_name: az aks list --output table.',
  });
});

it('a missing right is named', async () => {
  const scene = openScene();
  const right = 'Microsoft.ContainerService/managedClusters/listClusterUserCredential/action';
  scene.fake.world.denied.add(right);

  await expect(scene.during(scene.open())).rejects.toMatchObject({
    kind: 'denied',
    remedy: expect.stringContaining(right),
  });
});

it('a token goes to no other address than that of Azure', async () => {
  const scene = openScene();
  const fetchTrue = scene.context.fetch;
  const asked: string[] = [];
  const lying: typeof fetch = async (input, init) => {
    asked.push(new URL(String(input)).host);
    const answer = await fetchTrue(input, init);
    if (!String(input).includes('/providers/Microsoft.ContainerService/managedClusters?')) return answer;
    return Response.json({ value: [], nextLink: 'https://elsewhere.test/next' });
  };
  Object.assign(scene.context, { fetch: lying });
  await expect(scene.during(scene.open({ clusterName: 'x' }))).rejects.toMatchObject({ kind: 'missing' });

  expect(asked).toContain('management.azure.com');
  expect(asked).not.toContain('elsewhere.test');
});

it('waits as long as a throttled answer asks, and out a lost reply', async () => {
  const scene = openScene();
  scene.fake.failureRules.add({ what: { kind: 'throttle' }, service: 'management' });
  scene.fake.failureRules.add({ what: { kind: 'lost reply' }, service: 'entra' });

  expect((await scene.during(scene.open())).server).toBe(SERVER);
});

it('by the login of az, on a machine that is not of Azure; and says where it looked where there is none', async () => {
  const scene = openScene();
  delete scene.variables.AZURE_CLIENT_SECRET;
  const { world, failureRules } = scene.fake;
  failureRules.add({ what: { kind: 'lost request' }, service: 'imds', times: Number.POSITIVE_INFINITY });
  await expect(scene.during(scene.open())).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('AZURE_FEDERATED_TOKEN_FILE (not set); az; the identity of the machine'),
  });

  scene.az = (resource) => {
    const expiresAt = scene.clock.now() + HOUR_MS;
    world.granted.set(`of az for ${resource}`, { who: 'person', resource, expiresAt });
    return { value: `of az for ${resource}`, expiresAt };
  };
  const access = await scene.during(scene.open());
  const { headers } = await scene.during(access.credential(going()));
  expect(whose(world, headers.authorization?.slice(7) ?? '', AKS_SERVER)).toBe('person');
});

import { expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { going } from '#core/testing/going.ts';
import { REGION } from '../testing.ts';
import { EksConfig } from './config.ts';
import { CA, NAME, openEksScene, ROLE, SERVER } from './testing.ts';

it('opens a cluster by the credentials of the server, with a token that the cluster takes', async () => {
  const scene = openEksScene();
  const access = await scene.during(scene.open());
  const { headers, tls } = await scene.during(access.credential(going()));

  expect(access.server).toBe(SERVER);
  expect(tls).toEqual({ ca: CA });
  expect(scene.presenterOf(headers.authorization)).toBe('arn:aws:iam::123456789012:root');
  // The token itself is made here: only the cluster was asked for.
  expect(scene.fake.calls.map(({ action }) => action)).toEqual(['DescribeCluster']);
});

it('acts as the role for the description too, so that the cluster may be in another account', async () => {
  const scene = openEksScene();
  await scene.during(scene.open({ roleArn: ROLE }));
  const [assumed, described] = scene.fake.calls;

  expect([assumed?.action, assumed?.accessKey]).toEqual(['AssumeRole', 'AKIATEST']);
  expect(described?.action).toBe('DescribeCluster');
  expect(described?.accessKey).toMatch(/^ASIA/);
});

it('a token is signed anew after at most 14 minutes, without a call', async () => {
  const scene = openEksScene();
  const access = await scene.during(scene.open());
  const first = await scene.during(access.credential(going()));
  await scene.clock.advance(8 * MINUTE_MS);
  expect(await scene.during(access.credential(going()))).toBe(first);
  await scene.clock.advance(6 * MINUTE_MS);

  expect(await scene.during(access.credential(going()))).not.toBe(first);
  expect(scene.fake.countOf('DescribeCluster')).toBe(1);
});

it('a mistyped cluster is refused with the nearest one, from all pages', async () => {
  const scene = openEksScene();
  const { clusters } = scene.fake.region(REGION);
  for (const name of ['alpha', 'batch', 'zeta']) clusters.set(name, { name, status: 'ACTIVE' });
  scene.fake.behaviour.largestPage = 1;
  scene.fake.behaviour.emptyPages = 1;
  const refusalOf = (clusterName: string) => scene.during(scene.open({ clusterName })).catch((fault) => fault);

  expect(await refusalOf('velda-clutser')).toMatchObject({
    kind: 'missing',
    message: 'There is no EKS cluster velda-clutser in us-west-2.',
    remedy: `Did you mean ${NAME}?`,
  });
  expect(await refusalOf('x')).toMatchObject({ remedy: `The region has: alpha, batch, ${NAME}, zeta.` });
  scene.fake.principals.deny('eks:ListClusters');
  expect(await refusalOf('x')).toMatchObject({
    kind: 'missing',
    remedy: 'Check region and cluster_name: aws eks list-clusters --region us-west-2.',
  });
});

it('a missing right is named, and so is a cluster that has no address yet', async () => {
  const scene = openEksScene();
  scene.fake.principals.deny('eks:DescribeCluster');
  await expect(scene.during(scene.open())).rejects.toMatchObject({
    kind: 'denied',
    remedy: "Allow the server's role the action eks:DescribeCluster.",
  });
  scene.fake.principals.deny('sts:AssumeRole');
  await expect(scene.during(scene.open({ roleArn: ROLE }))).rejects.toMatchObject({
    kind: 'denied',
    remedy: "Allow the server's role the action sts:AssumeRole.",
  });

  scene.fake.principals.allow('eks:DescribeCluster');
  scene.fake.region(REGION).clusters.set(NAME, { name: NAME, status: 'CREATING' });
  await expect(scene.during(scene.open())).rejects.toMatchObject({
    kind: 'unavailable',
    message: `The EKS cluster ${NAME} in us-west-2 has no address: it is CREATING.`,
  });
});

it('waits out a throttled moment and a lost reply', async () => {
  const scene = openEksScene();
  scene.fake.failureRules.add({ what: { kind: 'throttle' }, service: 'eks' });
  scene.fake.failureRules.add({ what: { kind: 'lost reply' }, service: 'eks', after: 1 });

  expect((await scene.during(scene.open())).server).toBe(SERVER);
});

it('takes only names and roles that AWS could know', () => {
  expect(EksConfig.safeParse({ clusterName: 'a/../b' }).success).toBe(false);
  expect(EksConfig.safeParse({ clusterName: NAME, roleArn: 'muster-eks' }).success).toBe(false);
});

import { expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { openKubeWorld } from './testing.ts';

it.each([
  [
    'Pod Security',
    'violates PodSecurity "restricted:latest": privileged (container "agent" must not set securityContext.privileged=true)',
    'label namespace default with pod-security.kubernetes.io/enforce=privileged.',
  ],
  ['a missing PriorityClass', 'no PriorityClass with name high was found', 'Create the PriorityClass high,'],
  [
    'a missing ServiceAccount',
    'error looking up service account default/agent: serviceaccount "agent" not found',
    'Create the ServiceAccount agent in namespace default,',
  ],
  [
    'a LimitRange',
    'maximum cpu usage per Container is 100m, but limit is 4',
    'to fit the LimitRange of namespace default,',
  ],
])('where %s refuses its pods, a pool says what to correct and tries once a minute', async (_, what, remedy) => {
  const world = await openKubeWorld();
  const message = `pods "m-1" is forbidden: ${what}`;
  world.fake.failureRules.add({
    action: 'create pods',
    times: 1e9,
    what: { kind: 'error', code: 'Forbidden', status: 403, message },
  });
  world.apply('gpu');
  await world.clock.advance(10 * MINUTE_MS);
  const said = world.condition('gpu', 'BackendHealthy');

  expect(said).toContain(what);
  expect(said).toContain(remedy);
  expect(said).not.toContain('Add this rule');
  expect(world.calls(['create']).filter((call) => call.startsWith('create pods')).length).toBeLessThan(15);

  world.fake.failureRules.clear();
  await world.clock.advance(2 * MINUTE_MS);
  expect(world.pods('gpu')).toHaveLength(1);
});

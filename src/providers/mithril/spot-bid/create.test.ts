import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { readMarkedName } from '#core/mark-name.ts';
import type { Backend, PendingCreate } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { type BidScene, H100, openBackend, openScene } from '../fake/testing.ts';

const bodies = ({ fake }: BidScene) => fake.calls.filter(({ action }) => action === 'create').map(({ body }) => body);
const specOf = (body: Readonly<Record<string, unknown>> | undefined) =>
  body?.launch_specification as Readonly<Record<string, unknown>>;
const faultOf = (call: Promise<unknown>): Promise<Fault> =>
  call.then(
    () => new Fault('internal', 'it succeeded'),
    (thrown) => Fault.from(thrown),
  );

async function refusalOf(scene: BidScene, config: object): Promise<Fault | undefined> {
  const [outcome] = await scene.during((await openBackend(scene, config)).create(aBatch(1), going()));
  return outcome?.fault;
}

describe('a bid', () => {
  it('is for one instance, in dollars with two places, with the id of the type in that region, and the mark in its name', async () => {
    const scene = openScene();
    const launch = aBatch(2);
    const outcomes = await scene.during((await openBackend(scene)).create(launch, going()));

    expect(outcomes).toEqual(
      launch.names.map((name) => ({ name, operation: expect.stringMatching(/^bid_\d+ \d{4}-/) })),
    );
    const [body] = bodies(scene);
    expect(body).toMatchObject({ project: 'proj_abc123', region: 'us-west-2', instance_type: 'it_8xh1001' });
    expect(body).toMatchObject({ limit_price: '$4.50', instance_quantity: 1 });
    expect(readMarkedName(String(body?.name))).toEqual({ name: launch.names[0], mark: launch.mark });
    expect(specOf(body)).toMatchObject({ volumes: [], ssh_keys: [] });
    expect(specOf(body)?.startup_script).toContain(`name='${launch.names[0]}'`);
  });

  it('runs the start-up script of the user first', async () => {
    const scene = openScene();
    const config = { ...H100, startupScript: '#!/bin/bash\nmodprobe nvidia', memoryGb: 512, sshKeyIds: ['key_1'] };
    await scene.during((await openBackend(scene, config)).create(aBatch(1), going()));
    const spec = specOf(bodies(scene)[0]);
    const script = String(spec?.startup_script);

    expect(spec).toMatchObject({ memory_gb: 512, ssh_keys: ['key_1'] });
    expect(script.indexOf('modprobe nvidia')).toBeGreaterThan(0);
    expect(script.indexOf('modprobe nvidia')).toBeLessThan(script.indexOf('Brings the Muster agent'));
  });

  it('whose reply was lost asks not to be repeated while listings may be late; a repeat finds it', async () => {
    const scene = openScene({ lagMs: 50_000 });
    const backend = await openBackend(scene);
    scene.fake.failureRules.add({ action: 'create', what: { kind: 'lost reply' } });
    const first = await faultOf(scene.during(backend.create(aBatch(1), going())));
    await scene.clock.advance(first.retryAfterMs ?? 0);
    const second = await scene.during(backend.create(aBatch(1), going()));

    expect([first.kind, second.length]).toEqual(['unavailable', 1]);
    expect(first.retryAfterMs).toBeGreaterThan(90_000);
    expect(scene.fake.bids).toHaveLength(1);
  });

  it.each([
    ['type', { instanceType: '8xh10' }, 'Did you mean "8xh100"?'],
    ['region', { region: 'us-west-3' }, 'Did you mean "us-west-2"?'],
  ])('of an unknown %s is not sent, and the fault names the nearest', async (_what, more, remedy) => {
    const scene = openScene();
    const fault = await refusalOf(scene, { ...H100, ...more });

    expect([fault?.kind, bodies(scene).length]).toEqual(['invalid', 0]);
    expect(fault?.remedy).toContain(remedy);
  });

  it('is refused by quota and by price as what that is', async () => {
    const scene = openScene();
    scene.fake.quota = 0;
    const quota = await refusalOf(scene, H100);
    scene.fake.quota = 10;
    const price = await refusalOf(scene, { ...H100, limitPrice: 0.5 });

    expect([quota?.kind, price?.kind]).toEqual(['quota', 'exhausted']);
    expect(price?.remedy).toContain('Raise limit_price');
  });
});

describe('an open bid', () => {
  it('is pending until allocation_timeout, and then counts as refused, also for another server', async () => {
    const scene = openScene();
    const config = { ...H100, allocationTimeout: '2m' };
    const backend = await openBackend(scene, config);
    scene.fake.refuseLate(1);
    const pending = (await scene.during(backend.create(aBatch(1), going()))) as PendingCreate[];
    const check = async (one: Backend) => (await scene.during(one.check?.(pending, going()) ?? Promise.resolve([])))[0];
    const young = await check(backend);
    await scene.clock.advance(60_000);
    const [listed] = await scene.during(backend.list(going()));
    const waiting = await check(backend);
    await scene.clock.advance(61_000);
    const refused = [await check(backend), await check(await openBackend(scene, config))];

    expect([young, waiting]).toEqual([pending[0], pending[0]]);
    expect(listed).toMatchObject({ state: 'creating', trouble: { kind: 'exhausted', final: false } });
    expect(refused).toMatchObject([{ fault: { kind: 'exhausted' } }, { fault: { kind: 'exhausted' } }]);
    expect(refused[0]?.fault?.message).toContain('allocation_timeout (2m)');
  });

  it('that got its instance just before allocation_timeout is made', async () => {
    const scene = openScene({ bootMs: 150_000 });
    const backend = await openBackend(scene, { ...H100, allocationTimeout: '80s' });
    const pending = (await scene.during(backend.create(aBatch(1), going()))) as PendingCreate[];
    await scene.clock.advance(84_000);
    const ended = await scene.during(backend.check?.(pending, going()) ?? Promise.resolve([]));

    expect(ended).toEqual([{ name: pending[0]?.name }]);
  });

  it('that somebody else ended is unknown, so that the listing decides', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    const pending = (await scene.during(backend.create(aBatch(1), going()))) as PendingCreate[];
    await scene.clock.advance(10_000);
    await scene.during(backend.delete(await scene.during(backend.list(going())), going()));
    await scene.clock.advance(180_000);

    expect(await scene.during(backend.check?.(pending, going()) ?? Promise.resolve([]))).toEqual([]);
  });

  it('that was woken is not refused for its age', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { ...H100, allocationTimeout: '2m', maxSuspendedBids: 1 });
    await scene.during(backend.create(aBatch(1), going()));
    await scene.clock.advance(10 * 60_000);
    const machines = await scene.during(backend.list(going()));
    await scene.during(backend.park?.suspend(machines, going()) ?? Promise.resolve([]));
    const [parked] = await scene.during(backend.list(going()));
    await scene.during(backend.park?.resume(machines, going()) ?? Promise.resolve([]));
    const [woken] = await scene.during(backend.list(going()));

    expect([parked?.state, woken?.state]).toEqual(['suspended', 'creating']);
    expect(woken?.trouble?.final).toBe(false);
  });
});

it('two pools of one project never see each other’s paused bids as their own', async () => {
  const scene = openScene();
  const backend = await openBackend(scene, { ...H100, maxSuspendedBids: 1 });
  for (const owner of ['pool1', 'pool2']) await scene.during(backend.create(aBatch(1, owner, owner), going()));
  await scene.clock.advance(10_000);
  const machines = await scene.during(backend.list(going()));
  await scene.during(backend.park?.suspend(machines.slice(0, 1), going()) ?? Promise.resolve([]));
  const after = await scene.during(backend.list(going()));

  expect(after.map(({ mark, state }) => [mark?.owner, state])).toEqual([
    ['pool1', 'suspended'],
    ['pool2', 'running'],
  ]);
});

it('tells the current spot price of the type in the region', async () => {
  const scene = openScene();
  const { pricePerHour } = await openBackend(scene);

  expect(pricePerHour && (await scene.during(pricePerHour(going())))).toBe(4);
});

it('needs a token, and is asked where the environment or the operator says', async () => {
  const scene = openScene();
  const { apiToken: _token, ...bare } = H100;
  const there = scene.contextFor('cluster1', { MITHRIL_API_TOKEN: 'x', MITHRIL_API_URL: 'http://127.0.0.1:4568/v2/' });

  await expect(openBackend(scene, bare)).rejects.toMatchObject({ kind: 'unauthenticated' });
  expect((await openBackend(scene, bare, there)).cloud).toBe('mithril:127.0.0.1:4568:proj_abc123');
});

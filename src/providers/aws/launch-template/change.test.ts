import { describe, expect, it } from 'vitest';
import type { Backend, Machine } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { OURS } from '../../../conformance/backend-world.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { LaunchConfig } from '../config.ts';
import { stateAt } from '../fake/ec2/instance.ts';
import { type AwsScene, GPU, openBackend, openScene } from '../testing.ts';
import { openLaunchTemplate } from './backend.ts';

const PARKING = { ...GPU, maxStoppedInstances: 2, maxInstanceLifetime: '1h' };

async function withMachines(
  count: number,
  config: object = PARKING,
): Promise<AwsScene & { backend: Backend; machines: Machine[] }> {
  const scene = openScene();
  const backend = await openBackend(scene, config);
  await scene.during(backend.create(aBatch(count), going()));
  await scene.clock.advance(60_000);
  const machines = [...(await scene.during(backend.list(going())))];
  return { ...scene, backend, machines };
}

const statesOf = ({ fake, clock }: AwsScene): string[] => fake.machines().map((one) => stateAt(one, clock.now()));

describe('the listing', () => {
  it('shows each state as what it means', async () => {
    const scene = await withMachines(3);
    const [one, two, three] = scene.machines as [Machine, Machine, Machine];
    const states = async () => (await scene.during(scene.backend.list(going()))).map(({ state }) => state);
    expect(await states()).toEqual(['running', 'running', 'running']);

    await scene.during(scene.backend.park?.suspend([one], going()) as Promise<unknown>);
    await scene.during(scene.backend.delete([two], going()));
    expect(await states()).toEqual(['suspending', 'deleting', 'running']);
    await scene.clock.advance(60_000);
    expect(await states()).toEqual(['suspended', 'running']);
    await scene.during(scene.backend.park?.resume([one], going()) as Promise<unknown>);
    expect(await states()).toEqual(['creating', 'running']);
    expect(three.createdAt).toBeGreaterThan(0);
  });

  it.each(['', '<html><body>Please log in</body></html>', '<?xml version="1.0"?><ok/>'])(
    'is no empty one where somebody else answered %j',
    async (text) => {
      const scene = openScene();
      const context = { ...scene.contextFor(OURS), fetch: async () => new Response(text) };
      const backend = await openLaunchTemplate(LaunchConfig.parse(GPU), context);

      await expect(scene.during(backend.list(going()))).rejects.toMatchObject({ kind: 'unavailable' });
    },
  );

  it('shows why EC2 takes a spot machine back, until that has ended', async () => {
    const scene = await withMachines(2, { ...GPU, market: 'spot' });
    const [taken, kept] = scene.machines as [Machine, Machine];
    scene.fake.interrupt(taken.id ?? '');
    await scene.clock.advance(125_000);
    const [ending] = await scene.during(scene.backend.list(going()));
    await scene.clock.advance(60_000);

    expect(ending).toMatchObject({ name: taken.name, state: 'deleting', trouble: { kind: 'exhausted', final: true } });
    expect(await scene.during(scene.backend.list(going()))).toMatchObject([{ name: kept.name }]);
  });

  it('leaves out what bears no mark of ours, and what is half marked', async () => {
    const scene = await withMachines(2);
    scene.fake.machines()[0]?.tags.delete('muster:pool');

    expect(await scene.during(scene.backend.list(going()))).toHaveLength(1);
  });
});

describe('deleting', () => {
  it('takes a thousand in few calls', async () => {
    const scene = await withMachines(1_000);
    await scene.during(scene.backend.delete(scene.machines, going()));
    await scene.clock.advance(60_000);

    expect(new Set(statesOf(scene))).toEqual(new Set(['terminated']));
    expect(scene.fake.countOf('TerminateInstances')).toBe(5);
  });

  it('fails for one that may not be ended, and for no other', async () => {
    const scene = await withMachines(5);
    const bad = scene.machines[3] as Machine;
    scene.fake.failureRules.add({
      action: 'TerminateInstances',
      times: 100,
      when: ({ body }) => Object.values(body).includes(bad.id),
      what: { kind: 'error', code: 'OperationNotPermitted', message: 'disableApiTermination' },
    });
    const outcomes = await scene.during(scene.backend.delete(scene.machines, going()));

    expect(outcomes.filter(({ fault }) => fault)).toEqual([
      { name: bad.name, fault: expect.objectContaining({ kind: 'denied' }) },
    ]);
    expect(statesOf(scene).filter((state) => state === 'shutting-down')).toHaveLength(4);
  });

  it('finds machines of a batch by name where their ids are not known', async () => {
    const scene = await withMachines(3);
    const { id: _id, ...nameless } = scene.machines[1] as Machine;
    await scene.during(scene.backend.delete([nameless], going()));

    expect(statesOf(scene).filter((state) => state === 'shutting-down')).toHaveLength(1);
  });

  it('never touches an unmarked machine, whatever its caller names', async () => {
    const scene = await withMachines(1);
    const [machine] = scene.fake.machines();
    machine?.tags.clear();
    const outcomes = await scene.during(scene.backend.delete(scene.machines, going()));
    const refused = await scene.during(
      scene.backend.delete([{ ...(scene.machines[0] as Machine), mark: undefined }], going()),
    );

    expect(outcomes[0]?.fault?.kind).toBe('denied');
    expect(refused[0]?.fault?.kind).toBe('denied');
    expect(statesOf(scene)).toEqual(['running']);
  });
});

describe('parking', () => {
  it('is there where the pool wants it', async () => {
    const scene = openScene();

    expect((await openBackend(scene, PARKING)).park).toMatchObject({ most: 2, maxAgeMs: 3_600_000 });
    expect((await openBackend(scene, GPU)).park).toBeUndefined();
  });

  it('is safe to repeat, and says where it cannot be', async () => {
    const scene = await withMachines(1);
    const { suspend, resume } = scene.backend.park ?? {};
    const [machine] = scene.machines as [Machine];
    const outcomeOf = async (call: typeof suspend) =>
      (await scene.during(call?.([machine], going()) ?? Promise.resolve([])))[0];

    expect(await outcomeOf(suspend)).toEqual({ name: machine.name });
    expect((await outcomeOf(resume))?.fault?.kind).toBe('conflict');
    await scene.clock.advance(60_000);
    expect(await outcomeOf(suspend)).toEqual({ name: machine.name });
    expect(await outcomeOf(resume)).toEqual({ name: machine.name });
    expect(await outcomeOf(resume)).toEqual({ name: machine.name });
    await scene.during(scene.backend.delete([machine], going()));
    await scene.clock.advance(2 * 3_600_000);
    expect((await outcomeOf(resume))?.fault?.kind).toBe('missing');
    expect(scene.fake.countOf('StopInstances')).toBe(1);
    expect(scene.fake.countOf('StartInstances')).toBe(1);
  });

  it('tells when there is no capacity to wake one', async () => {
    const scene = await withMachines(1);
    const [machine] = scene.machines as [Machine];
    await scene.during(scene.backend.park?.suspend([machine], going()) as Promise<unknown>);
    await scene.clock.advance(60_000);
    scene.fake.failureRules.add({
      action: 'StartInstances',
      what: { kind: 'error', code: 'InsufficientInstanceCapacity', status: 500 },
    });
    const outcomes = await scene.during(scene.backend.park?.resume([machine], going()) ?? Promise.resolve([]));

    expect(outcomes[0]?.fault?.kind).toBe('exhausted');
  });
});

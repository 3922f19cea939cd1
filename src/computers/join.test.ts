import { describe, expect, it } from 'vitest';
import type { Hello, JoinProof } from '#core/agent-link.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { aPool } from '#core/testing/pool.ts';
import { ADMIN, type ComputerWorld, openComputerWorld } from './testing/world.ts';

const hello = (name: string, pool = 'dev'): Hello => ({
  ...{ name, pool, slots: 1, labels: {}, wire: 'muster', version: '1', hostname: name, address: '10.0.0.9' },
  executions: [],
});

/** The machine of the only computer, with the token that its boot data hold. */
function launched(world: ComputerWorld): { name: string; proof: JoinProof } {
  const [made] = world.cloud.machines().filter(({ machine }) => machine.mark?.use === 'computer');
  const token = made?.launch?.boot.token;
  return { name: made?.name ?? '', proof: { peerAddress: '10.0.0.9', token, key: 'own' } };
}

const refusalOf = (joining: Promise<unknown>): Promise<string> =>
  joining.then(
    () => 'joined',
    (thrown) => Fault.from(thrown).message,
  );

/** A computer whose agent has not come, and may take an hour. */
async function slow() {
  const world = await openComputerWorld({ doesBoot: () => false });
  const { computer } = await world.create('dev');
  const row = { ...computer, timeoutMs: HOUR_MS };
  await world.life.store.commit([{ table: 'computers', id: row.id, row }]);
  return world;
}

describe('the launch token of a computer', () => {
  it('admits the agent within 15 minutes after its machine was made', async () => {
    const world = await slow();
    await world.advance(14 * MINUTE_MS);
    const { name, proof } = launched(world);

    expect(await refusalOf(world.join(hello(name), proof))).toBe('joined');
    await world.advance(SECOND_MS);
    expect(world.statusOf('dev')).toBe('running');
  });

  it('opens nothing after 15 minutes; an agent that has joined comes back with its own key', async () => {
    const world = await slow();
    await world.advance(16 * MINUTE_MS);
    const { name, proof } = launched(world);
    expect(await refusalOf(world.join(hello(name), proof))).toBe(`The launch token of ${name} has expired.`);
    expect(world.statusOf('dev')).toBe('starting');

    const other = await slow();
    await other.advance(MINUTE_MS);
    const first = launched(other);
    await other.join(hello(first.name), first.proof);
    await other.advance(20 * MINUTE_MS);
    expect(await refusalOf(other.join(hello(first.name), { peerAddress: '10.0.0.9', key: 'own' }))).toBe('joined');
  });

  it('opens nothing once it was used: for no other key, no other name, no pool, and not after the computer is gone', async () => {
    const world = await openComputerWorld({ pools: [aPool({}, { name: 'desk', offers: [] })] });
    await world.create('dev');
    await world.advance(MINUTE_MS);
    const { name, proof } = launched(world);
    const tries = async () => [
      await refusalOf(world.join(hello(name), proof)),
      await refusalOf(world.join(hello('c-other'), proof)),
      await refusalOf(world.join(hello('c-other', 'desk'), proof)),
      await refusalOf(world.join(hello(name, 'desk'), proof)),
      await refusalOf(world.join(hello(name), { ...proof, token: undefined })),
    ];

    const whileItRuns = await tries();
    await world.computers.remove('dev', ADMIN);
    await world.advance(10 * MINUTE_MS);
    const afterwards = await tries();

    expect(world.statusOf('dev')).toBe('none');
    for (const refusal of [...whileItRuns, ...afterwards]) expect(refusal).not.toBe('joined');
  });
});

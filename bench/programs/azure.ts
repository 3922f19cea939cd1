// The simulated Azure, in a program of its own: what it works is not counted among what we work.
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { serveFake } from '#fakes/serve.ts';
import { type FakeAzure, openFakeAzure, publishedLimits } from '../../src/providers/azure/fake/fake-azure.ts';
import { type Calls, serveCalls } from '../parts/program.ts';

export interface HeardOfAzure {
  /** By action. */
  readonly calls: ReadonlyMap<string, number>;
  /** How many of them were refused. */
  readonly refused: number;
  /** Machines that exist now. */
  readonly machines: number;
}

let fake: FakeAzure | undefined;

const calls = {
  /** Answers its address. */
  async open(_nothing: undefined): Promise<string> {
    fake = openFakeAzure(systemClock, { limits: publishedLimits, pageSize: 1_000 });
    fake.world.isOpen = true;
    return (await serveFake(fake.handle, { port: 0 })).address;
  },
  take(_nothing: undefined): HeardOfAzure {
    if (!fake) throw new Fault('internal', 'The simulated Azure is not open.');
    const byAction = new Map<string, number>();
    for (const { action } of fake.calls) byAction.set(action, (byAction.get(action) ?? 0) + 1);
    const { compute } = fake.world;
    return {
      calls: byAction,
      refused: fake.calls.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'open').length,
      machines: compute.listed(undefined).length,
    };
  },
} satisfies Calls;

export type AzureCalls = typeof calls;

serveCalls(calls);

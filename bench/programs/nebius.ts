// The simulated Nebius, in a program of its own: what it works is not counted among what we work.
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { listenGrpc } from '#fakes/listen-grpc.ts';
import { type FakeNebius, openFakeNebius, someLimits } from '../../src/providers/nebius/fake/cloud.ts';
import { existsAt } from '../../src/providers/nebius/fake/instance.ts';
import { type Calls, serveCalls } from '../parts/program.ts';

export interface HeardOfNebius {
  /** By action. */
  readonly calls: ReadonlyMap<string, number>;
  /** How many of them were refused. */
  readonly refused: number;
  /** Instances that exist now. */
  readonly machines: number;
}

let fake: FakeNebius | undefined;

const calls = {
  /** Answers its address. */
  async open(_nothing: undefined): Promise<string> {
    fake = openFakeNebius({ clock: systemClock, limits: someLimits });
    return (await listenGrpc(0, fake.handle)).address;
  },
  take(_nothing: undefined): HeardOfNebius {
    if (!fake) throw new Fault('internal', 'The simulated Nebius is not open.');
    const nowMs = systemClock.now();
    const byAction = Map.groupBy(fake.calls, ({ action }) => action);
    return {
      calls: new Map([...byAction].map(([action, those]) => [action, those.length])),
      refused: fake.calls.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'open').length,
      machines: fake.instances.filter((one) => existsAt(one, nowMs)).length,
    };
  },
} satisfies Calls;

export type NebiusCalls = typeof calls;

serveCalls(calls);

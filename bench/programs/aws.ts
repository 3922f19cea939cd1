// The simulated AWS, in a program of its own: what it works is not counted among what we work.
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { systemRandom } from '#core/random.ts';
import { noLimits } from '#fakes/limits.ts';
import { type FakeAws, openFakeAws } from '../../src/providers/aws/fake/fake-aws.ts';
import { publishedLimits } from '../../src/providers/aws/fake/limits.ts';
import { serve } from '../../src/providers/aws/fake/serve.ts';
import { setParameter } from '../../src/providers/aws/fake/ssm/parameter.ts';
import { type Calls, serveCalls } from '../parts/program.ts';

export interface Parameters {
  readonly region: string;
  readonly texts: ReadonlyMap<string, string>;
}

export interface Heard {
  /** By action, since it was asked last. */
  readonly calls: ReadonlyMap<string, number>;
  /** How many of them were refused. */
  readonly refused: number;
  /** Instances that exist now. */
  readonly machines: number;
}

let fake: FakeAws | undefined;

function opened(): FakeAws {
  if (!fake) throw new Fault('internal', 'The simulated AWS is not open.');
  return fake;
}

const calls = {
  /** Answers its address. */
  async open(isLimited: boolean): Promise<string> {
    const limits = isLimited ? publishedLimits : noLimits;
    fake = openFakeAws({ clock: systemClock, random: systemRandom, limits });
    return (await serve(fake)).address;
  },
  limit(isLimited: boolean): void {
    opened().limits = isLimited ? publishedLimits : noLimits;
  },
  put({ region, texts }: Parameters): void {
    const atMs = systemClock.now();
    for (const [name, value] of texts) {
      setParameter(opened().region(region), {
        name,
        kind: 'String',
        tier: 'Standard',
        description: undefined,
        keyId: undefined,
        dataType: 'text',
        allowedPattern: undefined,
        versions: [{ value, version: 1, atMs }],
        tags: new Map(),
      });
    }
  },
  /** Forgets what it heard before. */
  take(): Heard {
    const heard = opened().calls.splice(0);
    return {
      calls: new Map([...Map.groupBy(heard, ({ action }) => action)].map(([action, those]) => [action, those.length])),
      refused: heard.filter(({ outcome }) => outcome !== 'ok').length,
      machines: opened().machines().length,
    };
  },
} satisfies Calls;

export type AwsCalls = typeof calls;

serveCalls(calls);

// The simulated Cloud Storage, in a program of its own: what it works is not counted among what we work.
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type FakeGcp, openFakeGcp } from '../../src/providers/gcp/fake/fake-gcp.ts';
import { serveGcp } from '../../src/providers/gcp/fake/serve.ts';
import { openBucket } from '../../src/providers/gcp/fake/storage/bucket.ts';
import { type Calls, serveCalls } from '../parts/program.ts';

export interface Objects {
  readonly bucket: string;
  readonly texts: ReadonlyMap<string, string>;
}

let fake: FakeGcp | undefined;

function opened(): FakeGcp {
  if (!fake) throw new Fault('internal', 'The simulated Cloud Storage is not open.');
  return fake;
}

const calls = {
  /** Answers its address. */
  async open({ bucket: name, texts }: Objects): Promise<string> {
    fake = openFakeGcp(systemClock);
    const bucket = openBucket(name, systemClock);
    for (const [key, text] of texts) bucket.put(key, text);
    fake.world.storage.buckets.set(name, bucket);
    return (await serveGcp(fake, {})).address;
  },
  /** How many requests it has heard since it was asked last. */
  take: (): number => opened().calls.splice(0).length,
} satisfies Calls;

export type GcsCalls = typeof calls;

serveCalls(calls);

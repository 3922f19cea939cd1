// The auto kinds whose pools the file lists one by one, under `pool_details`.
import { z } from 'zod';
import { answered } from './answer.ts';
import { autoscalerFields } from './auto-pool.ts';
import type { Clock } from './clock.ts';
import { Fault } from './fault.ts';
import type { Document, Source } from './provider.ts';
import { duration } from './schema.ts';

const scaling = z.strictObject(autoscalerFields).optional();

interface ListedFields<Shared extends z.ZodRawShape, Own extends z.ZodRawShape> {
  /** What stands beside `pool_details`, and what each entry says of its machines. */
  readonly shared: Shared;
  readonly own: Own;
  /** What the docs call an entry's machines and the cloud's list of them: `size`, and `its size and image`. */
  readonly type: string;
  readonly entry: string;
}

/** The schema of such a kind; a name that stands there twice is refused. */
export function listedPools<Shared extends z.ZodRawShape, Own extends z.ZodRawShape>({
  shared,
  own,
  type,
  entry,
}: ListedFields<Shared, Own>) {
  const PoolDetail = z.strictObject({
    poolName: z.string().min(1).describe('Name of the pool.'),
    ...own,
    description: z
      .string()
      .optional()
      .describe('Description of the pool.')
      .meta({ defaultText: `${type} and region` }),
    autoscalerConfig: scaling.describe('Settings of this pool alone, key by key over the shared ones.'),
  });
  return z.strictObject({
    ...shared,
    autoscalerConfig: scaling.describe(
      'Settings of `auto_scaler` for all pools. Defaults here: `max_agents` 10, `max_idle_agents` 1 and `idle_decay` 60s.',
    ),
    poolDetails: z
      .array(PoolDetail)
      .default([])
      .superRefine((details, context) => {
        const names = details.map((detail) => (detail as { poolName: string }).poolName);
        for (const [at, name] of names.entries()) {
          if (names.indexOf(name) === at) continue;
          const message = `"${name}" stands in pool_details twice`;
          context.addIssue({ code: 'custom', path: [at, 'poolName'], message });
        }
      })
      .describe(`The pools, each with ${entry}.`),
    updateInterval: duration(10_000)
      .prefault('60s')
      .describe(
        `Interval after which a pool that was taken out of \`pool_details\` is removed. The list of ${type}s is read once an hour.`,
      ),
  });
}

// The pools do not depend on the answer, so it is not waited for longer.
const CHECK_WITHIN_MS = 5_000;

interface Listed {
  readonly documents: readonly (Document & { readonly text: string })[];
  readonly clock: Clock;
  /** What is checked, as in "sizes and region could not be checked", and whose list it is. */
  readonly checked: string;
  readonly list: string;
  /** A sentence about each entry that the cloud does not offer. */
  unoffered(signal: AbortSignal): Promise<readonly string[]>;
}

/** The source of such a kind: what the cloud does not offer is said in notes, and never keeps a pool back. */
export function openListed({ documents, clock, checked, list, unoffered }: Listed): Source {
  let notes: readonly string[] = [];

  function refuseWhenCancelled(signal: AbortSignal): void {
    if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
  }

  return {
    isDefinite: true,
    async documents(held, signal) {
      refuseWhenCancelled(signal);
      const patience = { clock, what: list, withinMs: CHECK_WITHIN_MS };
      notes = await answered(patience, signal, unoffered).catch((thrown) => [
        `${checked} could not be checked: ${Fault.from(thrown).message}`,
      ]);
      refuseWhenCancelled(signal);
      return documents.map(({ key, version, text }) =>
        held.get(key) === version ? { key, version } : { key, version, text },
      );
    },
    notes: () => notes,
  };
}

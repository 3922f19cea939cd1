import { z } from 'zod';
import type { PoolSpec } from '#core/pool.ts';
import { toCamel } from './keys.ts';
import { type KnownKinds, oneKind } from './kinds.ts';
import { poolSchema } from './pool-schema.ts';
import { serverFields } from './server-fields.ts';
import { sourceSchema } from './source-schema.ts';

/** What is wrong with the name of a pool that an earlier one has. */
export const SECOND_POOL = 'is already the name of an earlier pool';

/** The schema of the server's file against the kinds at hand. */
export function serverSchema(kinds: KnownKinds) {
  const fields = z.object({
    ...serverFields,
    agentPools: z
      .array(poolSchema(kinds.backends, 'operator'))
      .superRefine(noDoubles((pool: PoolSpec) => pool.name, 'name', SECOND_POOL))
      .default([])
      .describe('Pools that this file defines, in the form of pool documents.'),
    provisioners: z
      .array(sourceSchema(kinds))
      .superRefine(noDoubles((source) => source.id, 'name', 'is required: an earlier entry reads the same place'))
      .default([])
      .describe('Sources of more pool documents.'),
    clusters: z
      .record(z.string().min(1), oneKind(kinds.clusters ?? {}, 'cluster', 'operator'))
      .default({})
      .describe('Kubernetes clusters by name; sources and backends refer to one as `cluster`.'),
  });
  const sections = (kinds.sections ?? []).map((section) => [toCamel(section.key), section.schema(kinds)]);
  return fields.extend(Object.fromEntries(sections)) as unknown as typeof fields;
}

export type ServerFile = z.output<ReturnType<typeof serverSchema>>;

/** For `superRefine`: no two entries may have the same identity. */
function noDoubles<T>(identityOf: (entry: T) => string, key: string, message: string) {
  return (entries: readonly T[], context: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [at, entry] of entries.entries()) {
      const identity = identityOf(entry);
      if (seen.has(identity)) context.addIssue({ code: 'custom', path: [at, key], message });
      seen.add(identity);
    }
  };
}

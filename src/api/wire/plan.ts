import { z } from 'zod';
import { FAULTS, type FaultKind } from '#core/fault.ts';
import { POOL_CHANGES } from '../../pools/planned-changes.ts';
import { PlanAction } from './pool.ts';
import { DocumentProblem } from './problem.ts';
import { listOf, Name, Span } from './shared.ts';

const kinds = z.enum(Object.keys(FAULTS) as [FaultKind, ...FaultKind[]]);

export const Refusal = z.object({
  kind: kinds,
  message: z.string(),
  place: z
    .string()
    .optional()
    .meta({ description: 'Line, column and path in the document, if there is only one problem.' }),
  remedy: z.string(),
  problems: z.array(DocumentProblem).optional().meta({ description: 'All problems of the document.' }),
});
export type Refusal = z.infer<typeof Refusal>;

export const MOST_DOCUMENTS = 10_000;

export const PlanIn = z
  .strictObject({
    source: Name.optional().meta({ description: 'Plans as if these were all documents of this source.' }),
    expected: z.boolean().optional().meta({ description: 'Also runs the model for the first ten pools.' }),
    documents: z.array(z.strictObject({ key: z.string().min(1).max(1_000), text: z.string() })).max(MOST_DOCUMENTS),
  })
  .meta({ id: 'PlanIn' });
export type PlanIn = z.infer<typeof PlanIn>;

const DollarRange = z.object({ before: z.number().optional(), after: z.number() });
export type DollarRange = z.infer<typeof DollarRange>;

const PlannedDollars = z.object({
  at_rest: DollarRange.meta({ description: 'With the minimum and the idle slots alone, outside of schedules.' }),
  expected: DollarRange.optional().meta({
    description:
      'By the sessions of the last seven days, in the model; with `expected` in the request, of the first ten pools.',
  }),
  at_most: DollarRange.meta({
    description: 'With `max_agents` machines of the dearest backends, within the limits in dollars.',
  }),
  notes: z.array(z.string()),
});
export type PlannedDollars = z.infer<typeof PlannedDollars>;

const PlannedPool = z.object({
  name: z.string(),
  change: z.enum(POOL_CHANGES).meta({
    description: '`move`: its workers stay. `hold`: its removal would wait for approval.',
  }),
  why: z.string(),
  source: z.string(),
  key: z.string(),
  differences: z
    .array(z.object({ key: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }))
    .meta({ description: 'The keys of the document that differ; secret values are left out.' }),
  workers: z
    .object({
      start: z.int(),
      drain: z.int(),
      stop: z.int(),
      replace: z.int().meta({
        description:
          'Workers that would then have an older definition. `update_policy` decides how they are replaced: one after the other, and a busy one only after its sessions have ended.',
      }),
    })
    .meta({ description: 'What the next pass of the pool would do, and which workers later passes would replace.' }),
  actions: z.array(PlanAction),
  dollars: PlannedDollars.optional().meta({ description: 'Dollars an hour; absent for manual pools.' }),
  awaited_sessions: z
    .int()
    .optional()
    .meta({ description: 'Sessions on workers that are replaced or removed: they end first.' }),
  replaced_after: Span.optional().meta({
    description: 'About how long it takes to replace all, besides these sessions.',
  }),
  warnings: z
    .array(z.string())
    .optional()
    .meta({ description: 'Limits that have no effect, or that launch and remove a worker for each session.' }),
  next: z.string().meta({ description: 'Why the next pass would do that.' }),
});
export type PlannedPool = z.infer<typeof PlannedPool>;

export const PlannedChanges = z
  .object({
    pools: z.array(PlannedPool).meta({ description: 'Pools that would change.' }),
    unchanged: z.array(z.string()),
    refused: z.array(
      z.object({
        source: z.string(),
        key: z.string(),
        pool: z.string().optional().meta({ description: 'The pool stays as it is.' }),
        fault: Refusal,
      }),
    ),
  })
  .meta({ id: 'PlannedChanges' });
export type PlannedChanges = z.infer<typeof PlannedChanges>;

export const PoolDocument = z
  .object({
    name: z.string(),
    source: z.string(),
    key: z.string(),
    team: z.string().optional(),
    document: z.record(z.string(), z.unknown()).optional(),
    left_out: z.array(z.string()).meta({ description: 'The value is secret, or this role may not see it.' }),
    refused_elsewhere: z.array(z.string()).meta({ description: 'Why a source that is not trusted would refuse it.' }),
    fault: Refusal.optional().meta({ description: 'Why it cannot be written.' }),
  })
  .meta({ id: 'PoolDocument' });
export type PoolDocument = z.infer<typeof PoolDocument>;

export const PoolDocumentList = listOf(PoolDocument);
export type PoolDocumentList = z.infer<typeof PoolDocumentList>;

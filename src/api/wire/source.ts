import { z } from 'zod';
import { FAULTS, type FaultKind } from '#core/fault.ts';
import { DocumentProblem } from './problem.ts';
import { listOf, Span, Time } from './shared.ts';

const kinds = z.enum(Object.keys(FAULTS) as [FaultKind, ...FaultKind[]]);

export const Source = z
  .object({
    id: z.string(),
    kind: z.string(),
    place: z.string().optional().meta({ description: 'The place of its last complete listing.' }),
    configured: z
      .boolean()
      .meta({ description: 'False if the configuration no longer has it and it still owns pools.' }),
    every: Span.optional(),
    pools: z.int(),
    documents: z.int(),
    faulty_documents: z.int(),
    missing_documents: z
      .int()
      .meta({ description: 'Documents that the last good listing lacked. Their pools still exist.' }),
    last_tried_at: Time.optional(),
    failures: z.int().meta({ description: 'In a row.' }),
    last_good_at: Time.optional(),
    duration: Span.optional().meta({ description: 'Duration of the last good sync.' }),
    fault: z.object({ kind: kinds, message: z.string(), remedy: z.string().optional(), at: Time }).optional(),
    notes: z.array(z.string()).optional().meta({ description: 'Notes of the source about its configuration.' }),
    without_prices: z
      .array(z.object({ backend: z.string(), pools: z.int() }))
      .optional()
      .meta({
        description:
          'Backends of its pools whose cloud gives no prices, with the number of pools that set no `price_per_hour` for them.',
      }),
    held: z
      .object({ at: Time, why: z.string(), keys: z.array(z.string()) })
      .optional()
      .meta({ description: 'Removals that wait for approval. Until then their pools go on as defined.' }),
  })
  .meta({ id: 'Source' });
export type Source = z.infer<typeof Source>;

const names = z.array(z.string());

export const SourceSync = Source.extend({
  outcome: z
    .object({
      documents: z.int(),
      read: z.int().meta({ description: 'Number of new or changed documents.' }),
      missing: z.int(),
      created: names,
      changed: names,
      removing: names.meta({ description: 'Pools that are being removed, or are gone.' }),
      held: names.meta({ description: 'All pools of the source whose removal waits for approval.' }),
      waiting: z
        .array(z.object({ pool: z.string(), why: z.string() }))
        .meta({ description: 'Pools that the source no longer defines, and what their removal waits for.' }),
      fault: z.object({ kind: kinds, message: z.string(), remedy: z.string() }).optional(),
    })
    .optional()
    .meta({ description: 'The result, if the request waited for it.' }),
}).meta({ id: 'SourceSync' });
export type SourceSync = z.infer<typeof SourceSync>;

export const SourceList = listOf(Source);
export type SourceList = z.infer<typeof SourceList>;

export const SourceDocument = z
  .object({
    key: z.string(),
    version: z.string(),
    read_at: Time.optional().meta({ description: 'When this version was first read.' }),
    team: z.string().optional().meta({ description: 'The folder of the document.' }),
    pool: z.string().optional(),
    missed: z.int().meta({ description: 'Number of consecutive good listings without it.' }),
    fault: z
      .object({
        kind: kinds,
        message: z.string(),
        place: z.string().optional().meta({ description: 'Set if there is only one problem.' }),
        problems: z.array(DocumentProblem).optional().meta({ description: 'All problems of the document.' }),
      })
      .optional(),
  })
  .meta({ id: 'SourceDocument' });
export type SourceDocument = z.infer<typeof SourceDocument>;

export const SourceDocumentList = listOf(SourceDocument);
export type SourceDocumentList = z.infer<typeof SourceDocumentList>;

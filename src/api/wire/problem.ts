import { z } from 'zod';
import { FAULTS, type FaultKind } from '#core/fault.ts';

/** One thing that is wrong in a document. */
export const DocumentProblem = z
  .object({
    path: z.string().meta({ description: 'As the document has it; empty for the document itself.' }),
    line: z.int().optional(),
    column: z.int().optional(),
    message: z.string(),
    remedy: z.string().optional(),
  })
  .meta({ id: 'DocumentProblem' });
export type DocumentProblem = z.infer<typeof DocumentProblem>;

/** RFC 9457, with what to do about it. */
export const HttpProblem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    kind: z.enum(Object.keys(FAULTS) as [FaultKind, ...FaultKind[]]),
    /** Where in the request, the document or the configuration. */
    at: z.string().optional(),
    remedy: z.string(),
    retry_after_ms: z.number().optional(),
    /** Of a document: all that is wrong with it. */
    problems: z.array(DocumentProblem).optional(),
  })
  .meta({ id: 'Problem' });
export type HttpProblem = z.infer<typeof HttpProblem>;

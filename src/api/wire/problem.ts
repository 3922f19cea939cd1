import { z } from 'zod';
import { FAULTS, type FaultKind } from '#core/fault.ts';

/** RFC 9457, with what to do about it. */
export const Problem = z
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
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;

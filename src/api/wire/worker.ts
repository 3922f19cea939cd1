import { z } from 'zod';
import { WORKER_PHASES } from '#core/worker.ts';
import { Labels, listOf, Time } from './shared.ts';

const Agent = z.object({
  slots: z.int(),
  free_slots: z.int(),
  labels: Labels,
  wire: z.enum(['muster', 'velda']),
  version: z.string(),
  hostname: z.string(),
  address: z.string(),
  connected_at: Time,
});

export const Worker = z
  .object({
    name: z.string(),
    pool: z.string(),
    phase: z.enum(WORKER_PHASES),
    machine: z.string(),
    backend: z
      .string()
      .optional()
      .meta({ description: 'The kind of its backend; absent if its agent joined by itself.' }),
    launch: z.string().optional(),
    asked_at: Time,
    created_at: Time.optional(),
    joined_at: Time.optional(),
    waits: z.string().optional().meta({
      description: 'What it waits for while its agent has not joined: the state of its machine, or its trouble.',
    }),
    drain: z.object({ at: Time, why: z.string(), deadline_at: Time.optional() }).optional(),
    removal: z.object({ at: Time, why: z.string() }).optional(),
    agent: Agent.optional(),
    sessions: z.array(z.string()),
    unknown_sessions: z
      .array(z.string())
      .optional()
      .meta({ description: 'Sessions that its agent runs and that the server does not know; they are never killed.' }),
  })
  .meta({ id: 'Worker' });
export type Worker = z.infer<typeof Worker>;

export const WorkerList = listOf(Worker);
export type WorkerList = z.infer<typeof WorkerList>;

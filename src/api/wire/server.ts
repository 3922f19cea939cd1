import { z } from 'zod';
import { SESSION_PHASES } from '#core/session.ts';
import { WORKER_PHASES } from '#core/worker.ts';
import { Freeze } from './pool.ts';
import { Span, Time } from './shared.ts';

const count = z.int().min(0);

export const ServerStatus = z
  .object({
    version: z.string(),
    pid: z.int(),
    cluster: z.string(),
    epoch: z.int(),
    store: z.string().meta({ description: '`sqlite`, `postgres` or `memory`.' }),
    address: z.string().meta({ description: 'Where this API is: the address `http`.' }),
    addresses: z.record(z.string(), z.string()).meta({ description: 'By use: `http`, `grpc`.' }),
    ca_fingerprint: z.string(),
    machine_id: z.string().optional().meta({ description: 'Equal for processes that see the same files.' }),
    started_at: Time,
    uptime: Span,
    ready: z.boolean(),
    why_not_ready: z.string().optional(),
    frozen: Freeze.optional(),
    counts: z.object({
      pools: count,
      workers: z.record(z.enum(WORKER_PHASES), count),
      agents: count,
      sessions: z.partialRecord(z.enum(SESSION_PHASES), count),
      sources: count,
    }),
  })
  .meta({ id: 'ServerStatus' });
export type ServerStatus = z.infer<typeof ServerStatus>;

export const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;

export const Backup = z.object({ file: z.string(), bytes: z.int() }).meta({ id: 'Backup' });
export type Backup = z.infer<typeof Backup>;

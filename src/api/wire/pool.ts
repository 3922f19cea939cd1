import { z } from 'zod';
import { AGENT_AUTHS, POOL_PHASES, UPDATE_POLICIES } from '#core/pool.ts';
import { WORKER_PHASES } from '#core/worker.ts';
import { Alternative, Decision, Reason } from './decision.ts';
import { Labels, listOf, Span, Time } from './shared.ts';

export const Freeze = z
  .object({
    /** The name of a pool, or `fleet`. */
    scope: z.string(),
    at: Time,
    why: z.string(),
    by: z.string(),
    /** Lifts by itself when the agents are back. */
    automatic: z.boolean(),
    thaw: z.string().meta({ description: 'The command that ends it.' }),
  })
  .meta({ id: 'Freeze' });
export type Freeze = z.infer<typeof Freeze>;

export const HeldRemoval = z
  .object({
    at: Time,
    why: z.string(),
    approve: z.string().meta({ description: 'The command that approves it, with all that is held of the source.' }),
  })
  .meta({ id: 'HeldRemoval' });
export type HeldRemoval = z.infer<typeof HeldRemoval>;

const held = HeldRemoval.optional().meta({
  description: 'Set if its source no longer defines it and its removal waits for approval. It goes on as defined.',
});

const Window = z.object({
  name: z.string().optional(),
  days: z.string().optional(),
  from: z.string(),
  to: z.string(),
  timezone: z.string(),
  min_agents: z.int().optional(),
  max_agents: z.int().optional(),
  min_idle_agents: z.int().optional(),
  max_idle_agents: z.int().optional(),
});

const LimitsNow = z.object({
  min_agents: z.int(),
  max_agents: z.int(),
  min_idle_agents: z.int(),
  max_idle_agents: z.int(),
  set_by: z.array(z.string()).meta({ description: 'The windows or the target that set them.' }),
});

const AutoScaler = z.object({
  mode: z.enum(['standard', 'batch']),
  min_agents: z.int(),
  max_agents: z.int(),
  min_idle_agents: z.int().meta({ description: 'In slots.' }),
  max_idle_agents: z.int().meta({ description: 'In slots.' }),
  idle_decay: Span,
  initial_delay: Span.optional(),
  sync_loop_interval: Span,
  kill_unknown_after: Span,
  default_slots_per_agent: z.int(),
  scale_up_error_retry_delay: Span,
  allocation_error_reset_after: Span,
  boot_timeout: Span,
  max_price_per_hour: z.number().optional(),
  schedules: z.array(Window).optional(),
  wait_target: z.object({ p95: Span, max_idle_agents: z.int() }).optional(),
});

const count = z.int().min(0);
const phases = Object.fromEntries(WORKER_PHASES.map((phase) => [phase, count])) as Record<
  (typeof WORKER_PHASES)[number],
  typeof count
>;

export const Pool = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().optional(),
    phase: z.enum(POOL_PHASES),
    revision: z.int().meta({ description: 'Increases with every change; also the ETag.' }),
    owner: z.object({
      source: z.string(),
      key: z.string(),
      version: z.string().meta({ description: "The store's own." }),
      team: z.string().optional().meta({ description: 'The folder of the document.' }),
    }),
    created_at: Time,
    changed_at: Time,
    paused_at: Time.optional(),
    removal: z.object({ at: Time, deadline_at: Time, why: z.string() }).optional(),
    held,
    frozen: Freeze.optional(),
    trouble: z.string().optional().meta({
      description: 'Why the pool gets no machines, cannot list them, or gets no agents on them, with a remedy.',
    }),
    warnings: z
      .array(z.string())
      .optional()
      .meta({ description: 'Limits that have no effect, or that launch and remove a worker for each session.' }),
    agent_auth: z.enum(AGENT_AUTHS),
    agent_networks: z.array(z.string()),
    labels: Labels,
    drain_timeout: Span,
    auto_scaler: AutoScaler,
    limits_now: LimitsNow.optional().meta({ description: 'Set while a schedule or a wait target changes the limits.' }),
    update_policy: z.enum(UPDATE_POLICIES),
    backends: z.array(
      z.object({
        id: z.string(),
        kind: z.string(),
        config: z.record(z.string(), z.unknown()),
        price_per_hour: z.number().optional(),
        max_agents: z.int().optional(),
      }),
    ),
    dollars_per_hour: z.number().meta({ description: 'Of its machines that are not stopped, as far as it is known.' }),
    machines_without_price: count,
    workers: z.object({ total: count, ...phases }),
    slots: z.object({ total: count, free: count }),
    sessions: z.object({ queued: count, placed: count }),
  })
  .meta({ id: 'Pool' });
export type Pool = z.infer<typeof Pool>;

export const PoolList = listOf(Pool);
export type PoolList = z.infer<typeof PoolList>;

export const PlanAction = z.object({
  do: z.enum(['launch', 'drain', 'remove']),
  count: z.int().optional(),
  offer: z.string().optional().meta({ description: 'The id of the backend that launches it.' }),
  worker: z.string().optional(),
  why: z.string(),
});

export const Plan = z
  .object({
    pool: z.string(),
    did: z.string().optional().meta({ description: 'The actions in a few words.' }),
    reason: Reason.optional(),
    also: z.array(Reason).optional(),
    why: z.string(),
    unless: z.string().meta({ description: 'What would change the decision.' }),
    alternatives: z.array(Alternative).optional(),
    actions: z.array(PlanAction),
    again_after: Span.optional(),
    figures: z.record(z.string(), z.union([z.number(), z.boolean()])),
  })
  .meta({ id: 'Plan' });
export type Plan = z.infer<typeof Plan>;

/** The last decisions of a pool, newest first. */
export const Why = z
  .object({
    pool: z.string(),
    phase: z.enum(POOL_PHASES),
    frozen: Freeze.optional(),
    trouble: z
      .string()
      .optional()
      .meta({ description: 'Why the pool gets no machines, or no agents on them, with a remedy.' }),
    held,
    counts: z
      .object({ queued: count, idle: count, starting: count })
      .meta({ description: 'Queued sessions; idle workers; workers whose agents have not joined yet.' }),
    starting: z
      .array(z.object({ worker: z.string(), since: Time, waits: z.string() }))
      .meta({ description: 'What workers wait for whose agents have not joined, the oldest first; at most ten.' }),
    unmatched: z
      .object({ sessions: z.int(), labels: z.array(z.string()) })
      .optional()
      .meta({
        description:
          'Queued sessions that ask for labels that no worker of the pool offers. They do not count as demand.',
      }),
    past: z
      .object({
        at: Time,
        until: Time.optional().meta({ description: 'When the next decision was recorded.' }),
        replay: z
          .enum(['same', 'different', 'without-inputs', 'unreadable'])
          .meta({ description: 'What came of computing the decision again from its inputs.' }),
        differs_in: z.array(z.string()).optional(),
      })
      .optional()
      .meta({ description: 'Set if a time was asked for: all else is as it was then.' }),
    decisions: z.array(Decision),
  })
  .meta({ id: 'Why' });
export type Why = z.infer<typeof Why>;

import { z } from 'zod';
import { AGENT_AUTHS, type PoolSpec, type Scaling, UPDATE_POLICIES } from '#core/pool.ts';
import type { Backend, Kinds } from '#core/provider.ts';
import { scalerFields } from '#core/scaler-config.ts';
import { cidr, duration, freeMap } from '#core/schema.ts';
import { type Chosen, oneKind, type Trust, WHEN_MAP } from './kinds.ts';
import { backendList, checkPrices, type OfferedBackend, offerOf, termsOf } from './offers.ts';

const LONGEST_NAME = 200;

const poolName = z
  .string()
  .min(1)
  .max(LONGEST_NAME)
  .refine(
    (name) => name === name.trim() && !/\p{Cc}/u.test(name),
    'must not contain control characters, or spaces at its ends',
  )
  .refine((name) => name.isWellFormed(), 'must be valid Unicode text')
  // In an address of the API they mean a folder, so no request could name such a pool there.
  .refine((name) => name !== '.' && name !== '..', 'must not be "." or ".."')
  .describe('Name of the pool; sessions and agents refer to it.');

const poolFields = {
  name: poolName,
  description: z.string().optional().describe('Description of the pool for people.'),
  labels: freeMap().prefault({}).describe('Labels of the workers of this pool; sessions can ask for them.'),
  bootTimeout: duration(1_000)
    .prefault('15m')
    .describe('A machine is replaced if its agent has not joined after this time.'),
  drainTimeout: duration()
    .prefault('1h')
    .describe('Time for busy workers to finish their sessions when the pool is removed.'),
  updatePolicy: z
    .enum(UPDATE_POLICIES)
    .default('replace_idle')
    .describe(
      'What to do with workers of an older definition: `keep` them, replace idle ones, or replace all step by step (`rolling`). A busy worker finishes first.',
    ),
  agentAuth: z
    .enum(AGENT_AUTHS)
    .default('token')
    .describe(
      'How agents authenticate: `token`, `mtls`, `machine` (an agent must connect from the address that the cloud lists for its machine), or `network` (any program in `agent_networks`).',
    ),
  agentNetworks: z
    .array(cidr())
    .default([])
    .describe('With `agent_auth: network`: networks from which agents may join without a token, as CIDR.'),
};

const defaultScaler = z.object(scalerFields);

/** The schema of a pool document against the backends at hand; its result is the pool as the program knows it. */
export function poolSchema(kinds: Kinds<Backend>, trust: Trust): z.ZodType<PoolSpec> {
  const backend = oneKind(kinds, 'backend', trust);
  const autoScaler = z
    .object({
      backend: backend
        .optional()
        .describe('What creates the machines: exactly one kind. Without it the pool is manual.'),
      backends: backendList(kinds, trust).optional(),
      maxPricePerHour: z
        .number()
        .positive()
        .optional()
        .describe('Price limit for all machines of the pool together, in dollars an hour; needs `price_per_hour`.'),
      ...scalerFields,
    })
    .superRefine(checkBounds, WHEN_MAP)
    .superRefine(checkPrices, WHEN_MAP);
  return z
    .object({
      ...poolFields,
      autoScaler: autoScaler
        .optional()
        .describe('How the pool scales. Without it the pool is manual: its agents join by themselves.'),
    })
    .superRefine(checkNetworks, WHEN_MAP)
    .transform((pool): PoolSpec => {
      const scaler: Scaler = pool.autoScaler ?? defaultScaler.parse({});
      const { backend: one, backends = one ? [one] : [] } = scaler;
      return {
        name: pool.name,
        description: pool.description ?? scaler.metadata?.description,
        offers: backends.map(offerOf),
        ...termsOf(backends),
        updatePolicy: pool.updatePolicy,
        scaling: scalingOf(scaler, pool.bootTimeout),
        ...foresightOf(scaler),
        drainTimeoutMs: pool.drainTimeout,
        agentAuth: pool.agentAuth,
        agentNetworks: pool.agentNetworks,
        labels: pool.labels,
      };
    });
}

type Scaler = z.output<typeof defaultScaler> & {
  backend?: Chosen | undefined;
  backends?: OfferedBackend[] | undefined;
  maxPricePerHour?: number | undefined;
};

const DEFAULT_SYNC_MS = 60_000;
const DEFAULT_RETRY_MS = 60_000;
const RESET_AFTER_RETRY_MS = 30_000;

/** The fewest idle slots to allow: fewer would take away a worker as soon as it has come. */
export const derivedMaxIdle = (minIdleSlots: number, slotsPerAgent: number): number => minIdleSlots + slotsPerAgent - 1;

/** `allocation_error_reset_after` where it is not set. */
export const derivedResetMs = (retryDelayMs: number): number => retryDelayMs + RESET_AFTER_RETRY_MS;

function scalingOf(scaler: Scaler, bootTimeoutMs: number): Scaling {
  const slotsPerAgent = scaler.defaultSlotsPerAgent || 1;
  const retryDelayMs = scaler.scaleUpErrorRetryDelay || DEFAULT_RETRY_MS;
  return {
    mode: scaler.mode === 'batch' ? 'batch' : 'standard',
    minAgents: scaler.minAgents,
    maxAgents: scaler.maxAgents,
    minIdleSlots: scaler.minIdleAgents,
    maxIdleSlots: Math.max(scaler.maxIdleAgents, derivedMaxIdle(scaler.minIdleAgents, slotsPerAgent)),
    idleDecayMs: scaler.idleDecay,
    initialDelayMs: scaler.initialDelay,
    syncEveryMs: scaler.syncLoopInterval || DEFAULT_SYNC_MS,
    killUnknownAfterMs: scaler.killUnknownAfter,
    slotsPerAgent,
    retryDelayMs,
    errorResetAfterMs: scaler.allocationErrorResetAfter ?? derivedResetMs(retryDelayMs),
    bootTimeoutMs,
    ...(scaler.maxPricePerHour === undefined ? {} : { maxPricePerHour: scaler.maxPricePerHour }),
  };
}

/** Absent keys stay absent, so that a definition without them is the same as before. */
function foresightOf({ schedules, waitTarget }: Scaler): Pick<PoolSpec, 'schedules' | 'waitTarget'> {
  return {
    ...(schedules && schedules.length > 0 && { schedules }),
    ...(waitTarget && { waitTarget: { p95Ms: waitTarget.p95, maxIdleSlots: waitTarget.maxIdleAgents } }),
  };
}

function checkBounds(scaler: Partial<Scaler>, context: z.RefinementCtx): void {
  const { minAgents, maxAgents, backend, backends } = scaler;
  const areNumbers = typeof minAgents === 'number' && typeof maxAgents === 'number' && maxAgents >= 0;
  if (areNumbers && minAgents > maxAgents) {
    const message = `is ${minAgents}, above max_agents ${maxAgents}`;
    context.addIssue({ code: 'custom', path: ['minAgents'], message });
  }
  checkWindows(scaler, context);
  if (scaler.waitTarget !== undefined && (scaler.minIdleAgents ?? 0) > 0) {
    const message = 'stands beside min_idle_agents; keep one of them: the server chooses the idle slots for the target';
    context.addIssue({ code: 'custom', path: ['waitTarget'], message });
  }
  if (backend !== undefined && backends !== undefined) {
    context.addIssue({
      code: 'custom',
      path: ['backends'],
      message: 'cannot be combined with backend; keep one of them',
    });
  }
}

/** Each window by itself; where two are open together, `max_agents` holds. */
function checkWindows(scaler: Partial<Scaler>, context: z.RefinementCtx): void {
  if (!Array.isArray(scaler.schedules)) return;
  for (const [at, window] of scaler.schedules.entries()) {
    const { minAgents = scaler.minAgents, maxAgents = scaler.maxAgents } = window;
    if (typeof minAgents !== 'number' || typeof maxAgents !== 'number' || minAgents <= maxAgents) continue;
    const isOwn = window.minAgents !== undefined;
    const message = isOwn ? `is ${minAgents}, above max_agents ${maxAgents}` : `is below min_agents ${minAgents}`;
    context.addIssue({ code: 'custom', path: ['schedules', at, isOwn ? 'minAgents' : 'maxAgents'], message });
  }
}

function checkNetworks(pool: { agentAuth?: string; agentNetworks?: unknown }, context: z.RefinementCtx): void {
  const isOpenToNobody = Array.isArray(pool.agentNetworks) && pool.agentNetworks.length === 0;
  if (pool.agentAuth !== 'network' || !isOpenToNobody) return;
  context.addIssue({
    code: 'custom',
    path: ['agentNetworks'],
    message: 'is required with agent_auth: network, like [10.0.0.0/8]',
  });
}

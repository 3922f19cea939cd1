import type { Role } from '#core/access.ts';
import { formatDuration } from '#core/duration.ts';
import { type Pool, type PoolSpec, poolPhase } from '#core/pool.ts';
import { countPool } from '#core/pool-counts.ts';
import { addPrices } from '#core/pool-price.ts';
import { type ExpectedLaunches, scalingWarnings } from '#core/scaling-warnings.ts';
import type { ScalingNow } from '#core/schedule.ts';
import { FLEET, type Freeze, thawCommand } from '#core/worker.ts';
import type { Plan } from '../../autoscaler/plan.ts';
import { approveCommand, heldRemovalOf, teamOf } from '../../pools/status.ts';
import type { ApiDeps } from '../deps.ts';
import type * as wire from '../wire/pool.ts';
import { toTime, toTimeIf } from '../wire/shared.ts';
import { shownAlternative, shownReason } from './decision.ts';
import { withSnakeKeys } from './snake-keys.ts';

type Looks = Pick<ApiDeps, 'store' | 'redactConfig' | 'redactText'> & {
  readonly workers: Pick<ApiDeps['workers'], 'trouble' | 'limits'>;
};

export function shownFreeze(freeze: Freeze, store: ApiDeps['store']): wire.Freeze {
  const { id, why, by, automatic } = freeze;
  const pool = id === FLEET ? undefined : (store.view.pools.get(id)?.name ?? id);
  return { scope: pool ?? FLEET, at: toTime(freeze.at), why, by, automatic, thaw: thawCommand(pool) };
}

/** The freeze that stops this pool: its own, or the fleet's. */
export function freezeOf(pool: string, store: ApiDeps['store']): wire.Freeze | undefined {
  const freeze = store.view.freezes.get(pool) ?? store.view.freezes.get(FLEET);
  return freeze && shownFreeze(freeze, store);
}

/** Why its removal waits for approval, where it does. */
export function heldOf(pool: Pool, store: ApiDeps['store']): wire.HeldRemoval | undefined {
  const held = heldRemovalOf(store, pool);
  if (!held) return undefined;
  return { at: toTime(held.at), why: held.why, approve: approveCommand(pool.owner.source, held.pools) };
}

function shownScaling({ scaling, schedules, waitTarget }: PoolSpec): wire.Pool['auto_scaler'] {
  return {
    mode: scaling.mode,
    min_agents: scaling.minAgents,
    max_agents: scaling.maxAgents,
    min_idle_agents: scaling.minIdleSlots,
    max_idle_agents: scaling.maxIdleSlots,
    idle_decay: formatDuration(scaling.idleDecayMs),
    initial_delay: scaling.initialDelayMs === undefined ? undefined : formatDuration(scaling.initialDelayMs),
    sync_loop_interval: formatDuration(scaling.syncEveryMs),
    kill_unknown_after: formatDuration(scaling.killUnknownAfterMs),
    default_slots_per_agent: scaling.slotsPerAgent,
    scale_up_error_retry_delay: formatDuration(scaling.retryDelayMs),
    allocation_error_reset_after: formatDuration(scaling.errorResetAfterMs),
    boot_timeout: formatDuration(scaling.bootTimeoutMs),
    max_price_per_hour: scaling.maxPricePerHour,
    schedules: schedules?.map((window) => ({
      name: window.name,
      days: window.days,
      from: window.from,
      to: window.to,
      timezone: window.timezone,
      min_agents: window.minAgents,
      max_agents: window.maxAgents,
      min_idle_agents: window.minIdleAgents,
      max_idle_agents: window.maxIdleAgents,
    })),
    wait_target: waitTarget && { p95: formatDuration(waitTarget.p95Ms), max_idle_agents: waitTarget.maxIdleSlots },
  };
}

/** Absent where they are as defined. */
function shownLimits({ scaling, setBy }: ScalingNow): wire.Pool['limits_now'] {
  const by = [...new Set(Object.values(setBy ?? {}))];
  if (by.length === 0) return undefined;
  return {
    min_agents: scaling.minAgents,
    max_agents: scaling.maxAgents,
    min_idle_agents: scaling.minIdleSlots,
    max_idle_agents: scaling.maxIdleSlots,
    set_by: by,
  };
}

/** Absent where there are none. With `expected` those that cost money say what they come to; lists go without. */
export function warningsOf(spec: PoolSpec, expected?: ExpectedLaunches): string[] | undefined {
  const warnings = scalingWarnings(spec, expected).map(({ name, message }) => `${name} ${message}`);
  return warnings.length > 0 ? warnings : undefined;
}

function shownPrice(
  store: ApiDeps['store'],
  pool: string,
): Pick<wire.Pool, 'dollars_per_hour' | 'machines_without_price'> {
  const sum = { priceNano: 0, unpriced: 0 };
  addPrices(store, sum, store.view.workers.by('pool', pool));
  return { dollars_per_hour: sum.priceNano / 1e9, machines_without_price: sum.unpriced };
}

/** A pool as a caller with that role may see it. */
export function shownPool(pool: Pool, looks: Looks, role: Role): wire.Pool {
  const { store, redactConfig, redactText, workers } = looks;
  const { spec, removal } = pool;
  const trouble = workers.trouble(pool.id);
  return {
    id: pool.id,
    name: pool.name,
    description: spec.description,
    phase: poolPhase(pool),
    revision: pool.revision,
    owner: { ...pool.owner, team: teamOf(store, pool.owner.source, pool.owner.key) },
    created_at: toTime(pool.createdAt),
    changed_at: toTime(pool.changedAt),
    paused_at: toTimeIf(pool.pausedAt),
    removal: removal && { at: toTime(removal.at), deadline_at: toTime(removal.deadlineAt), why: removal.why },
    held: heldOf(pool, store),
    frozen: freezeOf(pool.id, store),
    trouble: trouble && redactText(trouble.message),
    warnings: warningsOf(spec),
    agent_auth: spec.agentAuth,
    agent_networks: [...spec.agentNetworks],
    labels: spec.labels,
    drain_timeout: formatDuration(spec.drainTimeoutMs),
    auto_scaler: shownScaling(spec),
    limits_now: shownLimits(workers.limits(pool)),
    update_policy: spec.updatePolicy ?? 'replace_idle',
    backends: spec.offers.map(({ id, kind, config }) => ({
      id,
      kind,
      config: redactConfig(kind, config, role),
      price_per_hour: spec.terms?.[id]?.pricePerHour,
      max_agents: spec.terms?.[id]?.maxAgents,
    })),
    ...shownPrice(store, pool.id),
    ...countPool(store, pool.id),
  };
}

/** As exact as a look ahead can be: to the second, or below that to the millisecond; never sooner than it will be. */
function lookAhead(ms: number): string {
  const step = ms >= 1_000 ? 1_000 : 1;
  return formatDuration(Math.ceil(ms / step) * step);
}

type RedactText = ApiDeps['redactText'];

/** Actions without secrets: a reason may quote what a cloud said. */
export function shownActions(actions: Plan['actions'], redactText: RedactText): wire.Plan['actions'] {
  return actions.map((action) => ({ ...action, why: redactText(action.why) }));
}

export function shownPlan(pool: Pool, plan: Plan, redactText: RedactText): wire.Plan {
  return {
    pool: pool.name,
    did: plan.did,
    reason: shownReason(plan.reason),
    also: plan.also.map(shownReason),
    why: redactText(plan.why),
    unless: redactText(plan.unless),
    alternatives: plan.alternatives
      .map(shownAlternative)
      .map((each) => ({ ...each, what: redactText(each.what), why_not: redactText(each.why_not) })),
    actions: shownActions(plan.actions, redactText),
    again_after: plan.againAfterMs === undefined ? undefined : lookAhead(plan.againAfterMs),
    figures: withSnakeKeys(plan.figures),
  };
}

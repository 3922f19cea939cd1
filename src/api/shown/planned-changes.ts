import { isAtLeast } from '#access/tokens.ts';
import { differences } from '#config/differences.ts';
import type { Role } from '#core/access.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import { inSlices } from '#core/slices.ts';
import type { ChangePlan, PlannedPool } from '../../pools/pools.ts';
import type { Foreseen } from '../../workers/facts.ts';
import type { ApiDeps } from '../deps.ts';
import { shownProblems } from '../problem.ts';
import type * as wire from '../wire/plan.ts';
import { type ExpectedBy, expectedDollars, plannedDollars } from './planned-dollars.ts';
import { shownActions, warningsOf } from './pool.ts';

type Looks = Pick<ApiDeps, 'documents' | 'workers' | 'redactText' | 'clock' | 'features'>;

/** Who asks, and what the model needs to be asked; absent: nothing is expected. */
export interface PlanAsker {
  readonly role: Role;
  readonly expectedBy?: ExpectedBy | undefined;
}

// Each of them runs the model twice.
const MOST_EXPECTED = 10;

export function shownRefusal(fault: Fault, redactText: ApiDeps['redactText']): wire.Refusal {
  return {
    kind: fault.kind,
    message: redactText(fault.message),
    place: fault.at === undefined ? undefined : redactText(fault.at),
    remedy: fault.remedy,
    problems: fault.problems && shownProblems(fault.problems, redactText),
  };
}

const countOf = ({ actions, replaced }: Foreseen): wire.PlannedPool['workers'] => ({
  start: actions.reduce((sum, action) => sum + (action.do === 'launch' ? action.count : 0), 0),
  drain: actions.filter((action) => action.do === 'drain').length,
  stop: actions.filter((action) => action.do === 'remove').length,
  replace: replaced,
});

function differencesOf(
  { before, after }: PlannedPool,
  { documents }: Looks,
  role: Role,
): wire.PlannedPool['differences'] {
  if (!before || before.spec === after.spec) return [];
  const comparable = ({ spec }: Pool) => ({
    whole: documents.whole(spec),
    shown: documents.write(spec, role).document,
  });
  return [...differences(comparable(before), comparable(after))];
}

/** A caller who may not see a setting must not be able to guess it by trying. */
function mustBeOpen({ before, after, name }: PlannedPool, { documents }: Looks, role: Role): void {
  if (!before || before.spec === after.spec || isAtLeast(role, 'operator')) return;
  if (documents.write(before.spec, role).leftOut.length === 0) return;
  throw new Fault('denied', `Pool "${name}" has settings that the role ${role} may not see or compare.`, {
    remedy: 'Use a token with the role operator.',
  });
}

function shownPool(planned: PlannedPool, looks: Looks, role: Role): wire.PlannedPool {
  mustBeOpen(planned, looks, role);
  const { name, change, why, after } = planned;
  const plan = looks.workers.foresee(after);
  return {
    name,
    change,
    why: looks.redactText(why),
    source: after.owner.source,
    key: after.owner.key,
    differences: differencesOf(planned, looks, role),
    workers: countOf(plan),
    actions: shownActions(plan.actions, looks.redactText),
    dollars: plannedDollars(looks, planned, plan),
    awaited_sessions: plan.awaited,
    replaced_after: plan.replaced === 0 ? undefined : formatDuration(plan.replacedAfterMs),
    warnings:
      change === 'remove' || change === 'hold'
        ? undefined
        : warningsOf(after.spec, looks.features.foresight?.launchesASession),
    next: looks.redactText(plan.why),
  };
}

async function addExpected(pools: wire.PlannedPool[], planned: readonly PlannedPool[], by: ExpectedBy): Promise<void> {
  const byName = new Map(planned.map((one) => [one.name, one]));
  const priced = [...pools.entries()].filter(([, { dollars }]) => dollars !== undefined);
  for (const [at, pool] of priced.slice(0, MOST_EXPECTED)) {
    const one = byName.get(pool.name);
    if (!one || !pool.dollars) continue;
    const { range, note } = await expectedDollars(one, by);
    const notes = [...pool.dollars.notes, ...(note === undefined ? [] : [note])];
    pools[at] = { ...pool, dollars: { ...pool.dollars, expected: range, notes } };
  }
}

/** What would change, as a caller with that role may know it. */
export async function shownChanges(
  changes: ChangePlan,
  looks: Looks,
  { role, expectedBy }: PlanAsker,
): Promise<wire.PlannedChanges> {
  const pools: wire.PlannedPool[] = [];
  const refused = changes.refused.map(({ source, key, pool, fault }) => {
    return { source, key, pool, fault: shownRefusal(fault, looks.redactText) };
  });
  await inSlices(looks.clock, changes.pools, (planned) => {
    try {
      pools.push(shownPool(planned, looks, role));
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === 'internal') throw fault;
      const { source, key } = planned.after.owner;
      refused.push({ source, key, pool: planned.name, fault: shownRefusal(fault, looks.redactText) });
    }
  });
  if (expectedBy) await addExpected(pools, changes.pools, expectedBy);
  return { pools, unchanged: [...changes.unchanged], refused };
}

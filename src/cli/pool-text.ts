// Pools, decisions and plans as people see them.
import { styleText } from 'node:util';
import { FLEET } from '#core/worker.ts';
import type { Alternative, Decision, Reason } from '../api/wire/decision.ts';
import type { Freeze, HeldRemoval, Plan, Pool, Why } from '../api/wire/pool.ts';
import { moment, type TableLayout } from './show.ts';
import { oneLine, pairsLine, renderFacts } from './table.ts';

const kindsOf = (pool: Pool): string => pool.backends.map(({ kind }) => kind).join(', ');

const sizeOf = ({ backends, workers, auto_scaler, limits_now }: Pool): string =>
  backends.length === 0 ? `${workers.total}` : `${workers.total}/${(limits_now ?? auto_scaler).max_agents}`;

/** Of the machines whose price is known; of an older server nothing. */
function dollarsOf({ dollars_per_hour: dollars, machines_without_price: unpriced }: Partial<Pool>): string | undefined {
  if (dollars === undefined) return undefined;
  return `${dollars.toFixed(2)}${unpriced ? ` and ${unpriced} unknown` : ''}`;
}

export const poolListing: TableLayout<Pool> = {
  nothing: 'No pools. Define one under `agent_pools:` in the configuration, or with `muster pool apply FILE`.',
  columns: [
    { title: 'NAME', value: (pool) => pool.name },
    {
      title: 'PHASE',
      value: ({ phase, frozen, held }) =>
        [phase, frozen && 'frozen', held && 'removal held'].filter(Boolean).join(', '),
    },
    { title: 'WORKERS', value: sizeOf, align: 'right' },
    { title: 'IDLE', value: (pool) => pool.workers.idle, align: 'right' },
    { title: 'BUSY', value: (pool) => pool.workers.busy, align: 'right' },
    { title: 'BOOTING', value: (pool) => pool.workers.launching + pool.workers.booting, align: 'right' },
    { title: 'QUEUED', value: (pool) => pool.sessions.queued, align: 'right' },
    { title: 'BACKEND', value: (pool) => kindsOf(pool) || 'manual' },
    { title: 'SOURCE', value: (pool) => oneLine(pool.owner.source) },
    { title: 'TEAM', value: ({ owner }) => owner.team && oneLine(owner.team), isWide: true },
    { title: 'DOCUMENT', value: (pool) => oneLine(pool.owner.key), isWide: true },
    { title: 'VERSION', value: (pool) => oneLine(pool.owner.version), isWide: true },
    { title: '$/H', value: dollarsOf, align: 'right', isWide: true },
    // The last one: a table cuts no column, and a screen only its right side.
    { title: 'TROUBLE', value: (pool) => pool.trouble && oneLine(pool.trouble) },
  ],
};

type ShownWindow = NonNullable<Pool['auto_scaler']['schedules']>[number];

function windowText({ name, days = 'every day', from, to, timezone, ...limits }: ShownWindow): string {
  return `${name === undefined ? '' : `${name}: `}${days} ${from}-${to} ${timezone}, ${pairsLine(limits)}`;
}

function workersOf({ workers, auto_scaler, limits_now, backends }: Pool): string {
  const scaler = limits_now ?? auto_scaler;
  const leaving = workers.draining + workers.deleting;
  const parts = `${workers.idle} idle, ${workers.busy} busy, ${workers.launching + workers.booting} booting, ${leaving} leaving, ${workers.lost} lost`;
  return backends.length === 0
    ? `${workers.total}: ${parts}`
    : `${workers.total} of ${scaler.min_agents} to ${scaler.max_agents}: ${parts}`;
}

export function poolFacts(pool: Pool): string {
  const { auto_scaler: scaler, frozen, removal, sessions, slots } = pool;
  const now = pool.limits_now ?? scaler;
  const keeps = `keeps ${now.min_idle_agents} to ${now.max_idle_agents} idle, ${scaler.idle_decay} decay`;
  return renderFacts([
    ['Name', pool.name],
    ['Description', pool.description && oneLine(pool.description)],
    ['Phase', pool.phase],
    ['Frozen', frozen && oneLine(freezeText(frozen))],
    ['Held', pool.held && oneLine(heldText(pool.held))],
    ['Trouble', pool.trouble && oneLine(pool.trouble)],
    ...(pool.warnings ?? []).map((warning): [string, string] => ['Warning', oneLine(warning)]),
    [
      'Removal',
      removal && oneLine(`since ${moment(removal.at)}, at the latest ${moment(removal.deadline_at)}: ${removal.why}`),
    ],
    ['Source', oneLine(`${pool.owner.source}, ${pool.owner.key}, version ${pool.owner.version}`)],
    ['Team', pool.owner.team && oneLine(pool.owner.team)],
    ['Workers', workersOf(pool)],
    ['Slots', `${slots.free} free of ${slots.total}${pool.backends.length === 0 ? '' : `; ${keeps}`}`],
    ['Limits by', pool.limits_now && oneLine(pool.limits_now.set_by.join(', '))],
    ...(scaler.schedules ?? []).map((window): [string, string] => ['Schedule', oneLine(windowText(window))]),
    [
      'Wait target',
      scaler.wait_target && `p95 ${scaler.wait_target.p95}, up to ${scaler.wait_target.max_idle_agents} idle`,
    ],
    ['Dollars/h', dollarsOf(pool)],
    ['Sessions', `${sessions.placed} placed, ${sessions.queued} queued`],
    ['Backends', kindsOf(pool) || 'none: agents join by themselves'],
    ['Labels', pairsLine(pool.labels)],
    ['Agent auth', pool.agent_auth],
    ['Revision', pool.revision],
  ]);
}

/** Decisions that say the same, one after the other. */
interface Run {
  readonly newest: Decision;
  readonly times: number;
}

/** By reason; decisions of older servers have only their sentence. */
function isSameReason(one: Decision, other: Decision): boolean {
  if (!one.reason || !other.reason) return one.why === other.why;
  return JSON.stringify([one.reason, one.also]) === JSON.stringify([other.reason, other.also]);
}

/** Folds equal neighbours: what was decided again and again is one line. */
export function foldDecisions(decisions: readonly Decision[]): readonly Run[] {
  const runs: Run[] = [];
  for (const decision of decisions) {
    const times = 1 + (decision.repeats ?? 0);
    const last = runs.at(-1);
    if (last && last.newest.did === decision.did && isSameReason(last.newest, decision))
      runs[runs.length - 1] = { ...last, times: last.times + times };
    else runs.push({ newest: decision, times });
  }
  return runs;
}

// The reasons count slots; these figures count workers, and must not be taken for slots.
const OF_WORKERS = new Set('launching booting idle busy returning unknown draining lost deleting'.split(' '));

/** The figures that say something: what is 0 or false is left out. */
function factsOf({ facts }: Decision): string {
  const telling = Object.entries(facts).filter(([, value]) => value !== 0 && value !== false);
  return pairsLine(
    Object.fromEntries(telling.map(([name, value]) => [OF_WORKERS.has(name) ? `${name}_workers` : name, value])),
  );
}

function runLine({ newest, times }: Run): string {
  const often = times > 1 ? ` (${times} times)` : '';
  return `${styleText('dim', moment(newest.last_at ?? newest.at))}  ${styleText('bold', oneLine(newest.did))}  ${oneLine(newest.why)}${often}`;
}

function reasonText({ code, with: settings }: Reason): string {
  return settings && Object.keys(settings).length > 0 ? `${code} (${pairsLine(settings)})` : code;
}

function alternativeText({ what, why_not, price_per_hour }: Alternative): string {
  const price = price_per_hour === undefined ? '' : ` at ${price_per_hour}/h`;
  return `${what}${price}? No: ${why_not}`;
}

/** Since when, by whom, why, and how to end it. */
const freezeText = ({ at, by, why, thaw }: Freeze): string =>
  `since ${moment(at)} by ${by}: ${why.replace(/\.$/, '')}. To thaw it, run \`${thaw}\`.`;

/** Since when and why its removal is held, what that means, and how to end it. */
const heldText = ({ at, why, approve }: HeldRemoval): string =>
  `since ${moment(at)}: its source no longer defines it. ${why} The pool goes on as defined. To remove it with all that is held, run \`${approve}\`.`;

/** What holds workers that start: one line for all that wait for the same. */
function startingLines({ starting, counts, past }: Why): string[] {
  if (past) return [];
  const alike = Map.groupBy(starting, ({ waits }) => waits);
  const lines = [...alike].map(([waits, [oldest, ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `  ${oneLine(`${oldest?.worker}${more}, since ${moment(oldest?.since ?? '')}: ${waits}`)}`;
  });
  const left = counts.starting - starting.length;
  return left > 0 ? [...lines, `  and ${left} more`] : lines;
}

const REPLAYED: Readonly<Record<NonNullable<Why['past']>['replay'], string>> = {
  same: 'computed again from its inputs, it is the same',
  different: 'as it was recorded; computed again by this version, it differs in',
  'without-inputs': 'as it was recorded, by a version that did not keep its inputs',
  unreadable: 'as it was recorded; this version cannot read its inputs',
};

function pastText({ at, until, replay, differs_in: parts = [] }: NonNullable<Why['past']>): string {
  const next = until === undefined ? 'in force until now' : `in force until ${moment(until)}`;
  return `At ${moment(at)}, ${next}; ${[REPLAYED[replay], parts.join(', ')].filter(Boolean).join(' ')}:`;
}

export function whyText(why: Why): string {
  const whose = why.frozen?.scope === FLEET ? 'The fleet is frozen' : 'Frozen';
  const frozen = why.frozen && oneLine(`${whose} ${freezeText(why.frozen)}`);
  const trouble = why.trouble && oneLine(`Trouble: ${why.trouble}`);
  const unmatched =
    why.unmatched &&
    oneLine(`Queued sessions that match no worker: ${why.unmatched.sessions}, with ${why.unmatched.labels.join('; ')}`);
  const { counts } = why;
  const isWaiting = counts.queued > 0 || counts.starting > 0;
  const waiting = isWaiting && `${counts.queued} queued, ${counts.idle} idle, ${counts.starting} starting`;
  const decisions = why.decisions.length === 0 && unmatched ? undefined : decisionsText(why.decisions);
  const held = why.held && oneLine(`Its removal is held ${heldText(why.held)}`);
  const past = why.past && pastText(why.past);
  return [past, waiting, ...startingLines(why), frozen, held, trouble, unmatched, decisions].filter(Boolean).join('\n');
}

/** The newest decision with all that belongs to it; the ones before it, a line each. */
export function decisionsText(decisions: Why['decisions']): string {
  const [now, ...before] = foldDecisions(decisions);
  if (!now) return 'No decision yet.';
  const { newest } = now;
  const details = [
    newest.reason && `reason: ${[newest.reason, ...(newest.also ?? [])].map(reasonText).join('; ')}`,
    newest.unless && oneLine(`changes if: ${newest.unless}`),
    ...(newest.alternatives ?? []).map((each) => oneLine(`instead: ${alternativeText(each)}`)),
    Object.keys(newest.facts).length > 0 && `figures: ${factsOf(newest)}`,
  ];
  const shown = details.filter((detail) => typeof detail === 'string');
  return [runLine(now), ...shown.map((detail) => `  ${styleText('dim', detail)}`), ...before.map(runLine)].join('\n');
}

export function planText(plan: Plan): string {
  const actions = plan.actions.map((action) => oneLine(`${action.do} ${action.count ?? action.worker}: ${action.why}`));
  const again = plan.again_after && `Next pass in ${plan.again_after}.`;
  const alternatives = (plan.alternatives ?? []).map((each) => oneLine(`Instead: ${alternativeText(each)}`));
  return [
    actions.join('\n') || 'The next pass would do nothing.',
    oneLine(plan.why),
    oneLine(`Changes if: ${plan.unless}`),
    ...alternatives,
    again,
  ]
    .filter(Boolean)
    .join('\n');
}

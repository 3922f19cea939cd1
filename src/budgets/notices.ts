// The events of a budget: at shares of its month, and when its hour is exceeded.
import type { BudgetNotice } from '#core/budget.ts';
import { HOUR_MS } from '#core/clock.ts';
import { nextMonthFrom } from '#core/month.ts';
import { type Change, put, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { perHourOfTally, type Tally } from './tally.ts';

const SHARES = [50, 80, 100];
// Machines come and go at the limit: below this share of it the next excess is news again.
const BACK_BELOW = 0.8;

export const budgetSubject = (name: string): `budget/${string}` => `budget/${name}`;

const dollarsText = (dollars: number): string => `$${dollars.toFixed(2)}`;

const reachedPercent = ({ budget: { perMonth = Number.POSITIVE_INFINITY }, dollars }: Tally): number =>
  SHARES.findLast((share) => dollars >= (perMonth * share) / 100 - 1e-9) ?? 0;

/** When the next of them is due if all that runs goes on; with the end of the month a new count begins. */
export function nextNoticeMs(tally: Tally): number {
  const { budget, dollars, atMs, monthMs } = tally;
  const monthEndMs = nextMonthFrom(monthMs);
  const perHour = perHourOfTally(tally);
  if (budget.perMonth === undefined || perHour <= 0) return monthEndMs;
  const reached = reachedPercent(tally);
  const next = SHARES.find((share) => share > reached);
  if (next === undefined) return monthEndMs;
  const left = (budget.perMonth * next) / 100 - dollars;
  return Math.min(monthEndMs, atMs + Math.ceil((left / perHour) * HOUR_MS) + 1);
}

export interface Notices {
  /** Changes that tell what is due; the tally is up to date. */
  due(tally: Tally): readonly Change[];
}

export function openNotices(store: Store, journal: Pick<Journal, 'event'>): Notices {
  /** Budgets whose hour is exceeded, as events have said. */
  const over = new Set<string>();

  function monthDue(tally: Tally): readonly Change[] {
    const { budget, dollars, monthMs } = tally;
    const before = store.view.budgetNotices.get(budget.name);
    const percent = reachedPercent(tally);
    if (percent === 0 || (before?.monthFrom === monthMs && before.percent >= percent)) return [];
    const notice: BudgetNotice = { id: budget.name, monthFrom: monthMs, percent };
    const month = new Date(monthMs).toISOString().slice(0, 7);
    const limit = `per_month ${dollarsText(budget.perMonth ?? 0)}`;
    const stops = percent === 100 && budget.end === 'stop';
    const then = stops ? ' Nothing more is launched, idle workers are removed, and busy ones finish.' : '';
    const message = `Budget ${budget.name} has reached ${percent} % of ${limit}: ${dollarsText(dollars)} in ${month}.${then}`;
    const fields = { percent, dollars, perMonth: budget.perMonth };
    const subject = budgetSubject(budget.name);
    return [put('budgetNotices', notice), journal.event({ kind: 'budget.reached', subject, message, fields })];
  }

  function hourDue(tally: Tally): readonly Change[] {
    const { name, perHour = Number.POSITIVE_INFINITY } = tally.budget;
    const now = perHourOfTally(tally);
    if (now < perHour * BACK_BELOW) over.delete(name);
    if (now <= perHour + 1e-9 || over.has(name)) return [];
    over.add(name);
    const message = `The machines of budget ${name} cost ${dollarsText(now)} an hour, more than per_hour ${dollarsText(perHour)}.`;
    const fields = { dollarsPerHour: now, perHour };
    return [journal.event({ kind: 'budget.exceeded', subject: budgetSubject(name), message, fields })];
  }

  return { due: (tally) => [...monthDue(tally), ...hourDue(tally)] };
}

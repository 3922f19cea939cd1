import { z } from 'zod';
import type { BudgetState } from '#core/budget.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { ApiDeps } from './deps.ts';
import type { ReportedProblem } from './fleet-problems.ts';
import type { Noun } from './noun.ts';
import { type Route, route } from './route.ts';
import * as wire from './wire/budget.ts';
import { Name, toTime, toTimeIf } from './wire/shared.ts';

const rounded = (dollars: number): number => Math.round(dollars * 1e4) / 1e4;
const roundedIf = (dollars: number | undefined): number | undefined =>
  dollars === undefined ? undefined : rounded(dollars);

/** What is exceeded, and what follows from it; undefined: nothing is. */
function exceededText({ budget, dollarsPerHour, spent = 0 }: BudgetState): string | undefined {
  const { perHour = Number.POSITIVE_INFINITY, perMonth = Number.POSITIVE_INFINITY, end } = budget;
  if (spent >= perMonth) {
    const then = end === 'stop' ? ': nothing is launched, idle workers are removed, busy ones finish' : '';
    return `per_month ${perMonth} is spent${then}`;
  }
  if (dollarsPerHour <= perHour) return undefined;
  return `its machines cost ${rounded(dollarsPerHour)} an hour, more than per_hour ${perHour}`;
}

function shownBudget(state: BudgetState): wire.Budget {
  const { budget, pools, computers, machines, unpriced } = state;
  return {
    ...{ name: budget.name, per_hour: budget.perHour, per_month: budget.perMonth },
    pools: budget.pools && [...budget.pools],
    sources: budget.sources && [...budget.sources],
    // biome-ignore lint/suspicious/noThenProperty: the word of the server's file, and no code waits for a budget
    then: budget.end,
    covers: { pools, computers, machines },
    dollars_per_hour: rounded(state.dollarsPerHour),
    machines_without_price: state.machinesWithoutPrice,
    month_from: toTime(state.monthFrom),
    spent: roundedIf(state.spent),
    forecast: roundedIf(state.forecast),
    spent_at: toTimeIf(state.spentAt),
    busy_beyond: roundedIf(state.busyBeyond),
    unpriced: unpriced.map(({ pool, kind: backend, offer }) => ({ pool, backend, offer })),
    exceeded: exceededText(state),
  };
}

function missing(name: string, all: readonly BudgetState[]): Fault {
  const meant = nearest(
    name,
    all.map(({ budget }) => budget.name),
  );
  const remedy = meant === undefined ? 'List budgets with `muster budget ls`.' : `Did you mean ${meant}?`;
  const none = all.length === 0 ? "Write some under `budgets` of the server's file." : remedy;
  return new Fault('missing', `There is no budget ${name}.`, { at: 'path.budget', remedy: none });
}

function budgetRoutes(deps: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/budgets',
      role: 'viewer',
      summary: 'Lists the budgets of the server file with what their machines cost.',
      reply: wire.BudgetList,
      handle: () => ({ items: (deps.features.budgets?.list() ?? []).map(shownBudget) }),
    }),
    route({
      method: 'GET',
      path: '/budgets/:budget',
      role: 'viewer',
      summary: 'Shows a budget.',
      params: z.object({ budget: Name }),
      reply: wire.Budget,
      handle({ params: { budget: name } }) {
        const { budgets } = deps.features;
        const found = budgets?.find(name);
        if (found) return shownBudget(found);
        throw missing(name, budgets?.list() ?? []);
      },
    }),
  ];
}

/** Those that are exceeded, and those with pools that get no machine because its price is not known. */
function* problems({ features }: ApiDeps): Iterable<ReportedProblem> {
  for (const state of features.budgets?.list() ?? []) {
    const { name, end } = state.budget;
    const about = { urgency: 'fleet', subject: `budget/${name}`, link: '/pools' } as const;
    const remedy = `See \`muster budget show ${name}\`; raise it in the server's file, or remove machines.`;
    const exceeded = exceededText(state);
    if (exceeded !== undefined)
      yield { ...about, id: `budget/${name}`, said: () => ({ what: `Budget ${name}: ${exceeded}.`, remedy }) };
    const [first] = state.unpriced;
    if (!first || end !== 'stop') continue;
    const what = `Budget ${name} launches nothing for pool ${first.pool} from backend ${first.kind}: its price is not known.`;
    const priced = 'Set price_per_hour of the backend; for pools of others, also allow.prices of their source.';
    yield { ...about, urgency: 'pool', id: `budget/${name}/price`, said: () => ({ what, remedy: priced }) };
  }
}

export const noun: Noun = { tag: 'budgets', order: 58, routes: budgetRoutes, problems };

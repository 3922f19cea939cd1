import type { Budget, BudgetList } from '../api/wire/budget.ts';
import type { Cli, CliCommand } from './command.ts';
import { withExamples } from './example.ts';
import { listCommand, nounCommand, showCommand } from './noun.ts';
import { moment, type TableLayout } from './show.ts';
import { oneLine, renderFacts, renderTable } from './table.ts';

const dollars = (amount: number | undefined): string | undefined =>
  amount === undefined ? undefined : amount.toFixed(2);

/** `9.00 of 120`. */
const ofLimit = (amount: number | undefined, limit: number | undefined): string =>
  limit === undefined ? (dollars(amount) ?? '-') : `${dollars(amount) ?? '?'} of ${limit}`;

/** The share of the month that is spent. */
const percent = ({ spent, per_month: most }: Budget): string =>
  spent === undefined || most === undefined ? '-' : `${Math.floor((spent / most) * 100)}%`;

function coversText({ pools, sources, covers }: Budget): string {
  const what = [...(pools ?? []), ...(sources ?? []).map((source) => `source ${source}`)].map(oneLine).join(', ');
  const computers = pools || sources ? '' : ` and ${covers.computers} computers`;
  return `${what || 'all'}: ${covers.pools} ${covers.pools === 1 ? 'pool' : 'pools'}${computers}`;
}

const listing: TableLayout<Budget> = {
  nothing: "No budgets. Write them under `budgets` of the server's file.",
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'THEN', value: (budget) => budget.then },
    { title: 'COVERS', value: coversText },
    { title: 'MACHINES', value: ({ covers }) => covers.machines, align: 'right' },
    { title: '$/H', value: (budget) => ofLimit(budget.dollars_per_hour, budget.per_hour), align: 'right' },
    { title: 'SPENT', value: (budget) => ofLimit(budget.spent, budget.per_month), align: 'right' },
    { title: 'SHARE', value: percent, align: 'right' },
    { title: 'FORECAST', value: ({ forecast }) => dollars(forecast), align: 'right' },
    { title: 'EXCEEDED', value: ({ exceeded }) => oneLine(exceeded ?? '') },
  ],
};

function budgetText(budget: Budget): string {
  const { unpriced, machines_without_price: without } = budget;
  const facts = renderFacts([
    ['Name', budget.name],
    [
      'Then',
      budget.then === 'stop' ? 'stop: nothing is launched that would exceed it' : 'warn: events and problems say so',
    ],
    ['Covers', coversText(budget)],
    ['Machines', `${budget.covers.machines}${without > 0 ? `, ${without} without a price` : ''}`],
    ['Dollars/h', ofLimit(budget.dollars_per_hour, budget.per_hour)],
    ['Spent', budget.spent === undefined ? 'being counted' : ofLimit(budget.spent, budget.per_month)],
    ['Since', moment(budget.month_from)],
    ['Forecast', budget.forecast === undefined ? undefined : `${dollars(budget.forecast)} by the end of the month`],
    ['Spent at', budget.spent_at && `${moment(budget.spent_at)}, if all that runs goes on`],
    [
      'Beyond',
      budget.busy_beyond === undefined
        ? undefined
        : `${dollars(budget.busy_beyond)} an hour of work in progress, which finishes`,
    ],
    ['Exceeded', budget.exceeded && oneLine(budget.exceeded)],
  ]);
  if (unpriced.length === 0) return facts;
  const table = renderTable(unpriced, [
    { title: 'WITHOUT A PRICE', value: ({ pool }) => pool },
    { title: 'BACKEND', value: ({ backend }) => backend },
    { title: 'OFFER', value: ({ offer }) => offer },
  ]);
  return `${facts}\n\n${table}`;
}

function budgetCommand(cli: Cli) {
  const command = nounCommand('budget', 'what pools and computers may cost', [
    listCommand<Budget>(cli, {
      summary: 'list budgets: dollars an hour, spent this month, forecast',
      isLively: true,
      read: async (client) => (await client.call<BudgetList>('/budgets')).items,
      listing: () => listing,
    }),
    showCommand<Budget>(cli, {
      name: 'show',
      summary: 'show one budget and the backends without a price under it',
      of: '<name>',
      read: (client, name) => client.call(`/budgets/${encodeURIComponent(name)}`),
      text: budgetText,
    }),
  ]);
  return withExamples(command, [
    ['muster budget ls', 'what is left of each budget'],
    ['muster budget show ml', 'one of them, with the pools that lack a price'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'budget', order: 62, make: budgetCommand }];

import { styleText } from 'node:util';
import type { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { DollarRange, PlannedChanges, PlannedDollars, PlannedPool } from '../api/wire/plan.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf, formatOf, showing } from './command.ts';
import { readDocuments } from './document-file.ts';
import { withExamples } from './example.ts';
import { problemLines } from './problem-lines.ts';
import { REFUSED_EXIT, sayInvalid } from './refused-exit.ts';
import { show } from './show.ts';
import { oneLine, renderTable } from './table.ts';
import { print } from './terminal.ts';

// As `terraform plan -detailed-exitcode` has them: a script that applies on 2 must not take a bad document for a change.
const CHANGES_EXIT = 2;

const DOING = {
  create: ['green', 'to create'],
  change: ['yellow', 'to change'],
  move: ['yellow', 'to move'],
  restore: ['green', 'to restore'],
  remove: ['red', 'to remove'],
  hold: ['yellow', 'held'],
} as const;

const valueText = (value: unknown): string => (value === undefined ? '(nothing)' : oneLine(JSON.stringify(value)));

function differenceText({ key, before, after }: PlannedPool['differences'][number]): string {
  const isHidden = before === undefined && after === undefined;
  return `  ${oneLine(key)}: ${isHidden ? '(hidden)' : `${valueText(before)} → ${valueText(after)}`}`;
}

const rangeText = ({ before, after }: DollarRange): string =>
  before === undefined || before === after ? `${after}` : `${before} → ${after}`;

function dollarLines({ at_rest: rest, expected, at_most: most, notes }: PlannedDollars): string[] {
  const middle = expected ? `, expected ${rangeText(expected)}` : '';
  const line = `  dollars/h: at rest ${rangeText(rest)}${middle}, at most ${rangeText(most)}`;
  return [line, ...notes.map((note) => `  ${styleText('dim', oneLine(note))}`)];
}

function replacingLines({ workers, awaited_sessions: awaited = 0, replaced_after: after }: PlannedPool): string[] {
  const sessions = `${awaited} ${awaited === 1 ? 'session ends' : 'sessions end'} first`;
  const ends = awaited > 0 ? [sessions] : [];
  const time = workers.replace > 0 && after !== undefined ? [`replacing ${workers.replace} takes about ${after}`] : [];
  const text = [...ends, ...time].join('; ');
  return text === '' ? [] : [`  ${text}`];
}

function detailsOf(pool: PlannedPool): string {
  const { name, why, differences, workers, next, change, warnings = [] } = pool;
  const isMoved = Object.values(workers).some((count) => count > 0);
  const does = isMoved ? [`  workers: ${oneLine(next)}`] : [];
  const reasons = change === 'change' ? [] : [`  ${oneLine(why)}`];
  const costs = pool.dollars ? dollarLines(pool.dollars) : [];
  const waited = replacingLines(pool);
  const warned = warnings.map((warning) => `  ${styleText('yellow', 'warning')} ${oneLine(warning)}`);
  return [
    styleText('bold', name),
    ...reasons,
    ...differences.map(differenceText),
    ...does,
    ...waited,
    ...costs,
    ...warned,
  ].join('\n');
}

function refusalText({ key, pool, fault }: PlannedChanges['refused'][number]): string {
  const stays = pool === undefined ? '' : ` Pool ${pool} stays as it is.`;
  const what = problemLines(fault);
  const [first = ''] = what;
  const wrong = what.length === 1 ? ` ${first}` : what.map((line) => `\n  ${line}`).join('');
  return `${styleText('red', 'refused')} ${oneLine(key)}:${wrong}\n  ${oneLine(fault.remedy)}${stays}`;
}

function summaryOf({ pools, unchanged, refused }: PlannedChanges): string {
  const counts = Object.entries(DOING).flatMap(([change, [, words]]) => {
    const count = pools.filter((pool) => pool.change === change).length;
    return count > 0 ? [`${count} ${words}`] : [];
  });
  const rest = [`${unchanged.length} unchanged`, ...(refused.length > 0 ? [`${refused.length} refused`] : [])];
  return `${[counts.join(', ') || 'No changes', ...rest].join('; ')}.`;
}

/** For people: the change of each pool, then why, then what is refused. */
export function planningText(plan: PlannedChanges): string {
  const table = renderTable(plan.pools, [
    { title: 'CHANGE', value: ({ change }) => styleText(DOING[change][0], change) },
    { title: 'POOL', value: ({ name }) => name },
    { title: 'SOURCE', value: ({ source }) => oneLine(source) },
    { title: 'START', value: ({ workers }) => workers.start, align: 'right' },
    { title: 'DRAIN', value: ({ workers }) => workers.drain, align: 'right' },
    { title: 'STOP', value: ({ workers }) => workers.stop, align: 'right' },
    { title: 'REPLACE', value: ({ workers }) => workers.replace, align: 'right' },
  ]);
  const parts = [
    ...(plan.pools.length > 0 ? [table, ...plan.pools.map(detailsOf)] : []),
    ...plan.refused.map(refusalText),
    summaryOf(plan),
  ];
  return parts.join('\n\n');
}

function exitOf({ pools, refused }: PlannedChanges): number {
  if (refused.length > 0) return REFUSED_EXIT;
  return pools.length > 0 ? CHANGES_EXIT : 0;
}

async function ask(
  cli: Cli,
  client: Client,
  { files, source }: { readonly files: readonly string[]; readonly source: string | undefined },
): Promise<PlannedChanges> {
  if (files.length > 0) {
    const documents = await readDocuments(files, cli.terminal.input);
    return client.call('/plans', { method: 'POST', body: { documents, source, expected: true } });
  }
  if (source !== undefined)
    return client.call(`/sources/${encodeURIComponent(source)}/plan`, { method: 'POST', query: { expected: true } });
  throw new Fault('invalid', 'Nothing to plan.', {
    remedy: 'Give files with pool documents, or a source with --source.',
  });
}

function planCommand(cli: Cli): Command {
  const command = showing('plan', 'show what pool documents would change in pools and their workers')
    .argument('[files...]', 'files with pool documents, or - for stdin')
    .option(
      '-s, --source <name>',
      'plan as if the files were all documents of this source; without files, read the source now',
    )
    .action(async (files: string[], { source }: { source?: string }, command: Command) => {
      const plan = await ask(cli, clientOf(cli, command), { files, source }).catch((thrown) => sayInvalid(cli, thrown));
      if (!plan) return;
      print(
        cli.terminal,
        show(plan, formatOf(command), () => planningText(plan)),
      );
      cli.exitWith(exitOf(plan));
    });
  return withExamples(command, [
    ['muster plan gpu.yaml', 'what this document would change'],
    ['muster plan --source team pools/*.yaml', 'what would change if these were all documents of the source'],
    ['muster plan --source team', 'what the next sync of the source would change'],
  ]).addHelpText(
    'after',
    '\nSTART, DRAIN and STOP count what the next pass does. REPLACE counts workers of an older definition, which follow\none after the other. Dollars are an hour: with the minimum and idle slots alone, as the sessions of the last seven\ndays let the model expect, and with max_agents machines of the dearest backends.\n\nExits with 0 if nothing changes, with 2 if something changes, with 1 if a document is refused.',
  );
}

export const commands: readonly CliCommand[] = [{ name: 'plan', order: 40, make: planCommand }];

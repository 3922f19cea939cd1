import { isDeepStrictEqual, styleText } from 'node:util';
import type { Command } from 'commander';
import type { Replay } from '../api/wire/replay.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf, formatOf, showing } from './command.ts';
import { withExamples } from './example.ts';
import { REFUSED_EXIT, sayInvalid } from './refused-exit.ts';
import { moment, show } from './show.ts';
import { oneLine } from './table.ts';
import { print, startProgress } from './terminal.ts';

const DIFFERENT_EXIT = 2;

type Sum = Omit<Replay, 'next'>;

const NOTHING: Sum = { decisions: 0, same: 0, different: 0, without_inputs: 0, unreadable: 0 };

/** With the first of all that differ, and the first and the last moment. */
function added(sum: Sum, { next: _, ...page }: Replay): Sum {
  return {
    decisions: sum.decisions + page.decisions,
    same: sum.same + page.same,
    different: sum.different + page.different,
    without_inputs: sum.without_inputs + page.without_inputs,
    unreadable: sum.unreadable + page.unreadable,
    from: sum.from ?? page.from,
    until: page.until ?? sum.until,
    first_different: sum.first_different ?? page.first_different,
    first_unreadable: sum.first_unreadable ?? page.first_unreadable,
  };
}

async function replay(
  cli: Cli,
  client: Client,
  { pool, since }: { readonly pool: string | undefined; readonly since: string },
): Promise<Sum> {
  let sum = NOTHING;
  const end = startProgress(cli.terminal, () => `${sum.decisions} decisions computed again`);
  try {
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const page = await client.call<Replay>('/replays', { query: { pool, since, after }, signal: cli.signal });
      sum = added(sum, page);
      after = page.next;
    }
  } finally {
    end();
  }
  return sum;
}

const counted = (count: number): string => (count === 1 ? '1 decision' : `${count} decisions`);

type Different = NonNullable<Replay['first_different']>;

const SIDES = ['recorded', 'computed'] as const;

/** `pool why` calls them figures, too. */
const partText = (part: string): string => (part === 'facts' ? 'figures' : part);

/** What was recorded and what is computed, and then each part in which they differ. */
function differentLines({ pool, parts, recorded, computed }: Different): string[] {
  const both = { recorded, computed };
  const sides = SIDES.map((side) => `  ${side}  ${styleText('bold', both[side].did)}  ${oneLine(both[side].why)}`);
  const others = (['reason', 'also', 'unless', 'alternatives'] as const).filter((part) => parts.includes(part));
  return [
    styleText('bold', oneLine(`Pool ${pool} at ${moment(recorded.at)}, in ${parts.map(partText).join(', ')}:`)),
    ...sides,
    ...others.map((part) => changeLine(part, recorded[part], computed[part])),
    ...figuresOf(recorded.facts, computed.facts),
  ];
}

const changeLine = (what: string, before: unknown, after: unknown): string =>
  `  ${oneLine(`${what}: ${JSON.stringify(before) ?? 'none'} → ${JSON.stringify(after) ?? 'none'}`)}`;

function figuresOf(before: Different['recorded']['facts'], after: Different['computed']['facts']): string[] {
  const names = Object.keys({ ...before, ...after }).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return names.map((name) => changeLine(name, before[name], after[name]));
}

export function replayText(sum: Sum): string {
  const { decisions, same, different, without_inputs: without, unreadable, from, until } = sum;
  if (decisions === 0 || from === undefined || until === undefined) return 'No decision of that time is recorded.';
  const what = `${counted(decisions)} from ${moment(from)} to ${moment(until)}, computed again:`;
  const counts = [
    same === decisions && same > 1 ? 'all are the same' : same > 0 && `${same} the same`,
    different > 0 && styleText('red', `${different} different`),
    without > 0 && `${without} recorded without inputs by an earlier version`,
    unreadable > 0 && styleText('red', `${unreadable} with inputs that this version cannot read`),
  ];
  const first = sum.first_different && ['The first that differs:', ...differentLines(sum.first_different)];
  const bad = sum.first_unreadable;
  const unread = bad && [
    oneLine(`The first that cannot be read, of pool ${bad.pool} at ${moment(bad.at)}: ${bad.why} ${bad.remedy}`),
  ];
  return [`${what} ${counts.filter(Boolean).join(', ')}.`, ...(first ?? []), ...(unread ?? [])].join('\n');
}

function exitOf({ different, unreadable }: Sum): number {
  if (different > 0) return DIFFERENT_EXIT;
  return unreadable > 0 ? REFUSED_EXIT : 0;
}

function replayCommand(cli: Cli): Command {
  const command = showing('replay', 'compute recorded decisions of pools again, and compare')
    .argument('[pool]', 'only of this pool, by name or id')
    .option('--since <time>', 'from then on: a duration back from now, or a time in UTC', '7d')
    .action(async (pool: string | undefined, { since }: { since: string }, command: Command) => {
      const sum = await replay(cli, clientOf(cli, command), { pool, since }).catch((thrown) => sayInvalid(cli, thrown));
      if (!sum) return;
      print(
        cli.terminal,
        show(sum, formatOf(command), () => replayText(sum)),
      );
      cli.exitWith(exitOf(sum));
    });
  return withExamples(command, [
    ['muster replay', 'all decisions of the last seven days'],
    ['muster replay gpu --since 24h', 'those of one pool, of the last day'],
  ]).addHelpText(
    'after',
    '\nThe server computes each decision from the inputs that it has stored with it. It changes nothing and calls no cloud.\n\nExits with 0 if all are the same, with 2 if one differs, with 1 if the inputs of one cannot be read.',
  );
}

export const commands: readonly CliCommand[] = [{ name: 'replay', order: 42, make: replayCommand }];

import type { Command } from 'commander';
import { parse } from 'yaml';
import { Fault } from '#core/fault.ts';
import type { Forecast, ForecastIn } from '../api/wire/forecast.ts';
import { type Cli, type CliCommand, clientOf, formatOf, type Local, showing } from './command.ts';
import { readDocuments, readTextOf } from './document-file.ts';
import { withExamples } from './example.ts';
import { forecastText } from './forecast-text.ts';
import { pair, span, whole } from './option.ts';
import { show } from './show.ts';
import { print } from './terminal.ts';
import { readTrace, type TraceColumns, traceColumns } from './trace-file.ts';

interface Options {
  readonly set?: Readonly<Record<string, string>>;
  readonly since?: string;
  readonly sessions?: number;
  readonly lasting?: string;
  readonly for: string;
  readonly trace?: string;
  readonly columns?: TraceColumns;
  readonly pool?: string;
  readonly seed: number;
}

type Demand = Pick<ForecastIn, 'since' | 'rate' | 'trace'>;

const HOURS = { s: 1 / 3_600, m: 1 / 60, h: 1, d: 24 } as const;
const RATE = /^(\d+(?:\.\d+)?)\/(s|m|h|d)$/;

/** `500/h`, an hour. */
function perHour(text: string): number {
  const [, count, unit] = RATE.exec(text) ?? [];
  const rate = Number(count) / HOURS[unit as keyof typeof HOURS];
  if (rate > 0) return rate;
  throw new Fault('invalid', `--sessions ${text} is not a rate.`, { remedy: 'Write it like 500/h, 8/m or 10000/d.' });
}

/** Values as a pool document has them: `2` is a number, `5m` a text. */
function valuesOf(set: NonNullable<Options['set']>): Record<string, unknown> {
  const values = Object.entries(set).map(([key, text]) => {
    try {
      return [key, parse(text) as unknown];
    } catch {
      throw new Fault('invalid', `--set ${key}=${text} is not a value as YAML has it.`, {
        remedy: 'Write it as in a pool document; put lists and maps in quotes.',
      });
    }
  });
  return Object.fromEntries(values);
}

const oneDemand = (message: string): Fault =>
  new Fault('invalid', message, {
    remedy: 'Give --since, or --sessions with --lasting, or --trace; none of them means the last 7 days.',
  });

async function demandOf(cli: Cli, options: Options): Promise<Demand> {
  const { since, sessions, lasting, trace, columns } = options;
  const given = [since, sessions ?? lasting, trace].filter((demand) => demand !== undefined);
  if (given.length > 1) throw oneDemand('That is more than one demand.');
  if (sessions !== undefined && lasting !== undefined)
    return { rate: { per_hour: sessions, lasting, for: options.for } };
  if (sessions !== undefined) throw oneDemand('--sessions says how many come, not how long each takes.');
  if (lasting !== undefined) throw oneDemand('--lasting says how long each session takes, not how many come.');
  if (trace === undefined) return { since };
  return { trace: readTrace(trace, await readTextOf(trace, cli.terminal.input), columns) };
}

async function forecastOf(
  cli: Cli,
  local: Local,
  {
    pool,
    options,
    command,
  }: { readonly pool: string | undefined; readonly options: Options; readonly command: Command },
): Promise<Forecast> {
  const set = options.set && valuesOf(options.set);
  const { seed } = options;
  const { pool: file } = options;
  if ((pool === undefined) === (file === undefined)) {
    throw new Fault('invalid', pool === undefined ? 'Which pool?' : 'That is a pool of the server and a file.', {
      remedy:
        'Name a pool of the server, or with --trace a pool document: `muster whatif --trace jobs.csv --pool FILE`.',
    });
  }
  const demand = await demandOf(cli, options);
  if (file === undefined) {
    return clientOf(cli, command).call('/forecasts', { method: 'POST', body: { pool, set, seed, ...demand } });
  }
  if (demand.since !== undefined || (!demand.rate && !demand.trace)) {
    throw new Fault('invalid', `The pool of ${file} has no history.`, {
      remedy: 'Give a demand: --trace FILE, or --sessions 500/h --lasting 6m.',
    });
  }
  const [document, second] = await readDocuments([file], cli.terminal.input);
  if (!document || second) throw new Fault('invalid', `${file} holds several documents.`, { remedy: 'Give one.' });
  return local.forecast({ document, set, seed, ...demand }, cli.signal);
}

function whatifCommand(cli: Cli, local: Local): Command {
  const command = showing('whatif', 'compute what a pool would do, cost and keep waiting; changes nothing')
    .argument('[pool]', 'a pool of the server')
    .option(
      '--set <key=value>',
      'a key of auto_scaler that the other policy has otherwise; may be repeated',
      pair('--set'),
    )
    .option('--since <time>', 'its own sessions since then: a duration or a time (default: 7d)')
    .option('--sessions <rate>', 'other sessions: so many, for example 500/h', perHour)
    .option('--lasting <duration>', 'how long each of them runs', span('--lasting'))
    .option('--for <duration>', 'for how long they come', span('--for'), '24h')
    .option('--trace <file>', 'other sessions: a CSV with submitted, seconds or ended, and slots')
    .option('--columns <names>', 'what the columns of the trace are called, like submitted=creation_time', traceColumns)
    .option('--pool <file>', 'with another demand: a pool document in place of a pool; needs no server')
    .option('--seed <number>', 'the same seed gives the same answer', whole('--seed', 0, 2 ** 32 - 1), 1)
    .action(async (pool: string | undefined, options: Options, command: Command) => {
      const forecast = await forecastOf(cli, local, { pool, options, command });
      print(
        cli.terminal,
        show(forecast, formatOf(command), () => forecastText(forecast)),
      );
    });
  return withExamples(command, [
    ['muster whatif gpu --set min_idle_agents=2 --since 7d', 'the same sessions, another policy'],
    ['muster whatif gpu --sessions 500/h --lasting 6m --for 4h', 'other sessions, this policy'],
    ['muster whatif --trace jobs.csv --pool gpu.yaml', 'before anything runs'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'whatif', order: 42, make: whatifCommand }];

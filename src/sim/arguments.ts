import { parseArgs } from 'node:util';
import { Fault } from '#core/fault.ts';
import { type FaultRates, parseFaults } from './faults.ts';

export interface Arguments {
  readonly seed: number;
  readonly runs: number;
  readonly hours: number;
  readonly pools: number;
  readonly sessionsPerPoolHour: number;
  readonly faults: FaultRates;
  readonly replaysAll: boolean;
  readonly isHelp: boolean;
}

export const USAGE = `npm run sim -- [--seed N] [--hours H] [--pools P] [--load S] [--faults all|none|NAME,NAME…] [--runs K] [--replay-all]

  --seed    the world to run; the same seed gives the same world (1)
  --hours   simulated hours of load and faults, before all must come to rest (24)
  --pools   how many pools, with sizes and clouds chosen by the seed (20)
  --load    sessions for each pool and hour, on average over a day (20)
  --faults  what goes wrong: all, none, or names separated by commas (all)
  --runs    how many worlds, from that seed on (1)
  --replay-all  compute every stored decision again; otherwise every tenth after 5,000`;

const OPTIONS = {
  seed: { type: 'string', default: '1' },
  hours: { type: 'string', default: '24' },
  pools: { type: 'string', default: '20' },
  load: { type: 'string', default: '20' },
  faults: { type: 'string', default: 'all' },
  runs: { type: 'string', default: '1' },
  'replay-all': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (thrown) {
    throw new Fault('invalid', Fault.from(thrown).message, { remedy: USAGE });
  }
}

function numberOf(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= least) return value;
  throw new Fault('invalid', `"${text}" is not a number of at least ${least}.`, { at: `--${name}`, remedy: USAGE });
}

function wholeOf(name: string, text: string, least: number): number {
  const value = numberOf(name, text, least);
  if (Number.isSafeInteger(value)) return value;
  throw new Fault('invalid', `"${text}" is not a whole number.`, { at: `--${name}`, remedy: USAGE });
}

export function readArguments(args: readonly string[]): Arguments {
  const { seed, hours, pools, load, faults, runs, help, 'replay-all': replaysAll } = parse(args);
  return {
    seed: wholeOf('seed', seed, 0),
    runs: wholeOf('runs', runs, 1),
    hours: numberOf('hours', hours, 0),
    pools: wholeOf('pools', pools, 1),
    sessionsPerPoolHour: numberOf('load', load, 0),
    faults: parseFaults(faults),
    replaysAll,
    isHelp: help,
  };
}

// The program on the worker. Also the entry of its bundle, so it must not reach for anything of the server.
import { parseArgs } from 'node:util';
import { brokerIn, loadAgentConfig } from '#config/agent-file.ts';
import { type Environment, readEnvironment } from '#config/environment.ts';
import { describeProblem } from '#config/problem.ts';
import { systemClock } from '#core/clock.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { baseEnvironment } from '../agent/execution/environment.ts';
import { openExecution } from '../agent/execution/open.ts';
import { runAgent } from '../agent/main.ts';
import { onSignals } from './interrupts.ts';

export interface AgentProcessOptions {
  readonly pool?: string | undefined;
  readonly config?: string | undefined;
  /** The port for `GET /health`, and the exit code at the end of its time: as they were written. */
  readonly serve?: string | undefined;
  readonly endCode?: string | undefined;
  readonly environment: Environment;
  readonly version: string;
}

/** One object a line: it is read in the log of a machine. */
function machineLog(clock: typeof systemClock): Log {
  return (level, message, fields) => {
    if (level === 'debug') return;
    const time = new Date(clock.now()).toISOString();
    process.stderr.write(`${JSON.stringify({ time, level, message, ...fields })}\n`);
  };
}

function wholeIn(option: string, text: string, [least, most]: readonly [number, number]): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= least && value <= most) return value;
  throw new Fault('invalid', `${option} ${text} is not a whole number from ${least} to ${most}.`, {
    at: option,
    remedy: `Give a whole number from ${least} to ${most}.`,
  });
}

/** Runs the agent until it ends; answers its exit code. */
export async function runAgentProcess(options: AgentProcessOptions): Promise<number> {
  const { environment } = options;
  const log = machineLog(systemClock);
  const { config, file, warnings } = loadAgentConfig(environment, options.config ?? environment.agentFile);
  for (const warning of warnings) log('warn', 'configuration', { warning: describeProblem(warning, file) });
  const pool = options.pool ?? config.pool;
  const serve = options.serve === undefined ? config.serve : wholeIn('--serve', options.serve, [1, 65_535]);
  const endCode = wholeIn('--end-code', options.endCode ?? '0', [0, 255]);
  const end = await runAgent({
    config: {
      ...config,
      pool,
      serve,
      broker:
        config.broker.address === undefined ? { ...config.broker, ...brokerIn(environment.broker) } : config.broker,
      joinToken: config.joinToken ?? environment.joinToken,
    },
    givenName: environment.agentName,
    variable: environment.variable,
    version: options.version,
    endCode,
    openExecution: (execution) =>
      openExecution({ ...execution, env: baseEnvironment(environment.variable, pool ?? '') }),
    log,
    onStopSignal: (heard) => onSignals(['SIGTERM', 'SIGINT'], heard),
  });
  return end.exitCode;
}

const USAGE = 'Usage: muster agent [--pool NAME] [--config FILE] [--serve PORT] [--end-code NUMBER]';

function optionsIn(words: readonly string[]): Omit<AgentProcessOptions, 'environment' | 'version'> {
  const options = {
    pool: { type: 'string', short: 'p' },
    config: { type: 'string', short: 'c' },
    serve: { type: 'string' },
    'end-code': { type: 'string' },
  } as const;
  try {
    const { values } = parseArgs({ args: words.slice(words[0] === 'agent' ? 1 : 0), options });
    const { 'end-code': endCode, ...rest } = values;
    return { ...rest, endCode };
  } catch (thrown) {
    throw new Fault('invalid', Fault.from(thrown).message, { remedy: USAGE });
  }
}

async function runBundle(): Promise<void> {
  // Also how an image shows that it can run the agent.
  if (process.argv[2] === '--version') return void process.stdout.write(`muster ${MUSTER_VERSION}\n`);
  try {
    const options = optionsIn(process.argv.slice(2));
    process.exitCode = await runAgentProcess({ ...options, environment: readEnvironment(), version: MUSTER_VERSION });
  } catch (thrown) {
    const fault = Fault.from(thrown);
    process.stderr.write(`muster: ${fault.message}\n  ${fault.remedy}\n`);
    process.exitCode = FAULTS[fault.kind].exit;
  }
}

// The bundler puts the version here, and only into a bundle.
declare const MUSTER_VERSION: string;
if (typeof MUSTER_VERSION !== 'undefined') await runBundle();

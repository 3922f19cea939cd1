import { resolve } from 'node:path';
import { checkFile } from '#config/check.ts';
import { type Environment, readEnvironment } from '#config/environment.ts';
import { describeProblem } from '#config/problem.ts';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Cli, Local } from '../cli/command.ts';
import { findServer } from '../cli/find.ts';
import { buildProgram, runProgram } from '../cli/program.ts';
import { onSignals } from './interrupts.ts';
import { readVersion } from './version.ts';

const DEFAULT_DATA_DIR = 'data';

/** What runs here, without a server: loaded only by the commands that need it, since most commands do not. */
function localPart(environment: Environment): Local {
  return {
    async server(options) {
      const { runServer } = await import('./run-server.ts');
      await runServer({ ...options, environment });
    },
    async agent(options) {
      const { runAgentProcess } = await import('./agent.ts');
      return runAgentProcess({ ...options, environment, version: readVersion() });
    },
    async checkConfig(file) {
      const { loadKinds } = await import('./kinds.ts');
      const { problems, warnings } = await checkFile(file, { environment, kinds: loadKinds });
      return {
        problems: problems.map((problem) => new Fault('invalid', describeProblem(problem, file))),
        warnings: warnings.map((warning) => describeProblem(warning, file)),
      };
    },
    async restore(file, store) {
      const { restore } = await import('#store/copies.ts');
      await restore(resolve(file), store, { clock: systemClock, log: silentLog });
    },
  };
}

function openCli(environment: Environment, stopping: AbortController): Cli & { exitCode: number } {
  let interrupted: (() => void) | undefined;
  onSignals(['SIGINT'], () => (interrupted ? interrupted() : stopping.abort()));
  return {
    exitCode: 0,
    terminal: { input: process.stdin, output: process.stdout, errors: process.stderr, clock: systemClock },
    signal: stopping.signal,
    fetch,
    find: (options) =>
      findServer(options, {
        address: environment.address,
        token: environment.token,
        dataDir: environment.dataDir ?? DEFAULT_DATA_DIR,
      }),
    onInterrupt(heard) {
      interrupted = heard;
      return () => {
        interrupted = undefined;
      };
    },
    exitWith(code) {
      this.exitCode = code;
    },
  };
}

/** Runs one command line to its end, and then the process. */
export async function main(words: readonly string[]): Promise<void> {
  const environment = readEnvironment();
  const stopping = new AbortController();
  const cli = openCli(environment, stopping);
  const program = buildProgram(cli, localPart(environment), readVersion());
  const failure = await runProgram(program, words, cli);
  const INTERRUPTED = 130;
  process.exit(failure === undefined ? cli.exitCode : stopping.signal.aborted ? INTERRUPTED : failure);
}

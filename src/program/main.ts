import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { checkFile } from '#config/check.ts';
import { type Environment, readEnvironment } from '#config/environment.ts';
import { describeProblem } from '#config/problem.ts';
import { systemClock } from '#core/clock.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import { listenerOf } from '#host/listening.ts';
import { machineId } from '#host/machine-id.ts';
import { openBrowser } from '#host/open-browser.ts';
import { bootId } from '#host/processes.ts';
import type { Cli, Local } from '../cli/command.ts';
import { findServer } from '../cli/find.ts';
import { outputFailure } from '../cli/output-failure.ts';
import { buildProgram, runProgram, sayFault } from '../cli/program.ts';
import { simulations } from '../providers/simulations.gen.ts';
import { onSignals } from './interrupts.ts';
import { kubePart } from './kube.ts';
import { contextsFileIn, dataDirFor } from './user-folder.ts';
import { readVersion, versionFor } from './version.ts';

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
      const [{ loadKinds }, { launchesASession: expected }] = await Promise.all([
        import('./kinds.ts'),
        import('#foresight/launches-a-session.ts'),
      ]);
      const { problems, warnings } = await checkFile(file, { environment, kinds: loadKinds, expected });
      return {
        problems: problems.map((problem) => new Fault('invalid', describeProblem(problem, file))),
        warnings: warnings.map((warning) => describeProblem(warning, file)),
      };
    },
    async configSchema(file) {
      const [{ editorSchema }, { loadKinds }] = await Promise.all([
        import('#config/editor-schema.ts'),
        import('./kinds.ts'),
      ]);
      return editorSchema(file, await loadKinds([]));
    },
    async restore(file, store) {
      const { restore } = await import('#store/copies.ts');
      await restore(resolve(file), store, { clock: systemClock, log: silentLog });
    },
    async forecast(question, signal) {
      const { localForecast } = await import('./local-forecast.ts');
      return localForecast(question, signal);
    },
    simulations,
    async simCloud(options) {
      const { runSimCloud } = await import('./sim-cloud.ts');
      await runSimCloud(options);
    },
    kube: kubePart(environment),
    images: imagesOnDemand(environment),
  };
}

/** The builders and the packer of the agent are loaded by the first command that needs them. */
function imagesOnDemand(environment: Environment): Local['images'] {
  const part = async () => (await import('./images.ts')).imagesPart(environment, readVersion());
  return {
    host: hostname(),
    kinds: async (plugins) => (await part()).kinds(plugins),
    build: async (options) => (await part()).build(options),
    list: async (choice, signal) => (await part()).list(choice, signal),
    drop: async (image, choice, signal) => (await part()).drop(image, choice, signal),
  };
}

// What a shell answers for a program that was ended by SIGINT or SIGPIPE.
const INTERRUPTED = 130;
const BROKEN_PIPE = 141;

/** Ends this command from outside; the first reason tells the exit code. */
interface Ending {
  readonly signal: AbortSignal;
  code: number | undefined;
  end(code: number): void;
}

function openEnding(): Ending {
  const stopping = new AbortController();
  const ending: Ending = {
    signal: stopping.signal,
    code: undefined,
    end(code) {
      ending.code ??= code;
      stopping.abort();
    },
  };
  return ending;
}

/** `muster session ls | head` is no mistake: when the pipe is closed, we stop writing. Any other failure is printed once. */
function watchPipes(ending: Ending): void {
  process.stdout.on('error', (error) => {
    const fault = outputFailure(error);
    if (fault && ending.code === undefined) process.stderr.write(sayFault(fault));
    ending.end(fault ? FAULTS[fault.kind].exit : BROKEN_PIPE);
  });
  process.stderr.on('error', () => {});
}

/** Nothing where the folder was removed under us. */
function callerPlace(): ReturnType<Cli['place']> {
  try {
    const id = machineId();
    return id === undefined ? undefined : { machine_id: id, folder: process.cwd() };
  } catch {
    return undefined;
  }
}

function openCli(environment: Environment, ending: Ending): Cli & { exitCode(): number } {
  const contextsFile = contextsFileIn(environment);
  let exitCode = 0;
  let interrupted: (() => void) | undefined;
  onSignals(['SIGINT'], () => (interrupted ? interrupted() : ending.end(INTERRUPTED)));
  return {
    exitCode: () => exitCode,
    terminal: { input: process.stdin, output: process.stdout, errors: process.stderr, clock: systemClock },
    signal: ending.signal,
    fetch,
    // Also one that is set and empty.
    variable: (name) => environment.all()[name],
    find: (options) =>
      findServer(options, {
        address: environment.address,
        token: environment.token,
        ca: environment.ca,
        dataDir: dataDirFor(environment),
        contextsFile,
      }),
    contextsFile,
    place: callerPlace,
    listenerOf,
    openBrowser: (address) => openBrowser(address),
    bootId,
    onInterrupt(heard) {
      interrupted = heard;
      return () => {
        interrupted = undefined;
      };
    },
    exitWith(code) {
      exitCode = code;
    },
  };
}

/** What runs until it is stopped handles Ctrl-C itself. */
function withOwnInterrupts(local: Local, cli: Cli): Local {
  async function undisturbed<T>(act: () => Promise<T>): Promise<T> {
    const stop = cli.onInterrupt(() => {});
    return act().finally(stop);
  }
  return {
    ...local,
    server: (options) => undisturbed(() => local.server(options)),
    agent: (options) => undisturbed(() => local.agent(options)),
    simCloud: (options) => undisturbed(() => local.simCloud(options)),
  };
}

/** To a pipe Node writes in the background: what is still on its way would be lost with the process. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) return resolve();
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });
}

/** Runs one command line to its end, and then the process. */
export async function main(words: readonly string[]): Promise<void> {
  const environment = readEnvironment();
  const ending = openEnding();
  watchPipes(ending);
  const cli = openCli(environment, ending);
  const local = withOwnInterrupts(localPart(environment), cli);
  const program = await buildProgram(cli, local, { version: versionFor(words), words });
  const failure = await runProgram(program, words, cli);
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(ending.code ?? failure ?? cli.exitCode());
}

import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentFile, poolNameOf } from '#boot/agent-file.ts';
import { Fault } from '#core/fault.ts';
import { shortId } from '#core/id.ts';
import type { Context, Launch, Machine } from '#core/provider.ts';
import type { CommandConfig } from './config.ts';
import type { Claim } from './launches.ts';
import { readListing } from './listing.ts';
import { runScript, type ScriptResult, type ScriptRun } from './run-script.ts';

/** Under which claim a script makes machines, and how to stop it. */
export interface Making {
  readonly claim: Claim;
  readonly signal: AbortSignal;
}

/** The operator's scripts, each as a call. All but `list` answer with what they printed and how they failed. */
export interface Scripts {
  readonly canBatch: boolean;
  /** All machines, or throws. */
  list(signal: AbortSignal): Promise<readonly Machine[]>;
  stop(name: string, signal: AbortSignal): Promise<ScriptResult>;
  start(launch: Launch, name: string, making: Making): Promise<ScriptResult>;
  batchStart(launch: Launch, names: readonly string[], making: Making): Promise<ScriptResult>;
}

type Asked = Pick<ScriptRun, 'name'> & { readonly script: string | undefined } & Partial<Omit<ScriptRun, 'script'>>;

// Longer than any script may take; what is older was left by a server that died.
const KEEP_FILES_MS = 86_400_000;

function forgetOldFiles(path: string, now: number): void {
  for (const name of readdirSync(path)) {
    const file = join(path, name);
    const writtenAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - writtenAtMs > KEEP_FILES_MS) rmSync(file, { force: true });
  }
}

export function openScripts(config: CommandConfig, { clock, random, dataDir, log }: Context): Scripts {
  const filesPath = join(dataDir, 'agent-files');
  mkdirSync(filesPath, { recursive: true, mode: 0o700 });
  forgetOldFiles(filesPath, clock.now());

  async function run({ script, ...asked }: Asked, signal: AbortSignal): Promise<ScriptResult> {
    if (script === undefined) throw new Fault('unsupported', `There is no script ${asked.name}.`);
    const result = await runScript({ args: [], env: {}, timeoutMs: config.timeout, ...asked, script }, clock, signal);
    const { fault, errors } = result;
    if (fault) log('warn', 'script failed', { script: asked.name, error: fault.message, stderr: errors });
    return result;
  }

  /** The agent's file, which holds the token, exists only while the script runs. */
  async function make(launch: Launch, asked: Asked, { claim, signal }: Making): Promise<ScriptResult> {
    const { boot, mark, id } = launch;
    const file = join(filesPath, `${shortId(random, 16)}.yaml`);
    writeFileSync(file, agentFile(boot, { name: asked.env?.WORKER_NAME }), { flag: 'wx', mode: 0o600 });
    const launchEnv = { MUSTER_POOL: poolNameOf(boot) ?? mark.owner, MUSTER_LAUNCH: id, MUSTER_AGENT_CONFIG: file };
    try {
      return await run(
        { ...asked, env: { ...asked.env, ...launchEnv }, secret: boot.token, began: claim.scriptBegan },
        signal,
      );
    } finally {
      rmSync(file, { force: true });
    }
  }

  return {
    canBatch: config.batchStart !== undefined,
    async list(signal) {
      const { lines, fault } = await run({ name: 'list', script: config.list }, signal);
      // What was printed before a failure is only a part.
      if (fault) throw fault;
      return readListing(lines);
    },
    stop: (name, signal) =>
      run({ name: 'stop', script: config.stop, args: [name], env: { WORKER_NAME: name } }, signal),
    start: (launch, name, making) =>
      make(launch, { name: 'start', script: config.start, env: { WORKER_NAME: name } }, making),
    batchStart(launch, names, making) {
      const args = [String(names.length), launch.id];
      const env = { WORKER_NAMES: names.join(' ') };
      return make(launch, { name: 'batch_start', script: config.batchStart, args, env }, making);
    },
  };
}

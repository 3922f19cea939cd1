// Records which names scripts have created. Scripts have no idempotency key, so this backend keeps a record.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { writeDurably } from '#host/durable-file.ts';
import { isAlive, type ProcessMark, processStart } from '#host/processes.ts';

const KEEP_MS = 7 * 86_400_000;
const LOOK_EVERY_MS = 20;

interface Holder {
  readonly server: ProcessMark;
  /** It may outlive the server that ran it. */
  readonly script?: ProcessMark | undefined;
}

/** An exclusive right to run the script for a name. */
export interface Claim {
  /** Whether a script was ever started for it: then the machine may exist although no script reported it. */
  readonly wasAsked: boolean;
  /** From now on the claim lasts as long as that process, even if this server does not. */
  scriptBegan(pid: number): void;
  release(): void;
}

export interface Launches {
  /** The machine that was made under that name. */
  made(launch: string, name: string): string | undefined;
  setMade(launch: string, name: string, machine: string): Promise<void>;
  /** Waits until no other script runs for it. */
  claim(launch: string, what: string, signal: AbortSignal): Promise<Claim>;
}

const WORD = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,120}$/;

function checked(word: string): string {
  if (!WORD.test(word)) throw new Fault('invalid', `"${word}" is not a valid name of a machine or of a launch.`);
  return word;
}

export function openLaunches(path: string, clock: Clock): Launches {
  const at = (launch: string, file: string): string => join(path, checked(launch), checked(file));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  forgetOld();

  function forgetOld(): void {
    for (const launch of readdirSync(path)) {
      const folder = join(path, launch);
      if (clock.now() - statSync(folder).mtimeMs > KEEP_MS) rmSync(folder, { recursive: true, force: true });
    }
  }

  function read(file: string): string | undefined {
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  function isHeld(lock: string): boolean {
    try {
      const { server, script } = JSON.parse(read(lock) ?? '') as Holder;
      return isAlive(server) || (script !== undefined && isAlive(script));
    } catch {
      return false;
    }
  }

  const markOf = (pid: number): ProcessMark => ({ pid, start: processStart(pid) ?? '' });

  function makes(lock: string): boolean {
    try {
      writeFileSync(lock, JSON.stringify({ server: markOf(process.pid) }), { flag: 'wx', mode: 0o600 });
      return true;
    } catch {
      return false;
    }
  }

  /** A claim whose processes have all died counts no more. */
  function take(lock: string): boolean {
    if (makes(lock)) return true;
    if (isHeld(lock)) return false;
    rmSync(lock, { force: true });
    return makes(lock);
  }

  return {
    made: (launch, name) => read(at(launch, `${name}.made`)),
    setMade: (launch, name, machine) => writeDurably(at(launch, `${name}.made`), machine),
    async claim(launch, what, signal) {
      mkdirSync(join(path, checked(launch)), { recursive: true, mode: 0o700 });
      const lock = at(launch, `${what}.running`);
      const asked = at(launch, `${what}.asked`);
      while (!take(lock)) {
        if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
        await clock.sleep(LOOK_EVERY_MS, signal);
      }
      const wasAsked = existsSync(asked);
      await writeDurably(asked, '');
      return {
        wasAsked,
        scriptBegan: (pid) =>
          writeFileSync(lock, JSON.stringify({ server: markOf(process.pid), script: markOf(pid) }), { mode: 0o600 }),
        release: () => rmSync(lock, { force: true }),
      };
    },
  };
}

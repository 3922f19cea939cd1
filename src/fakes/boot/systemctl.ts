// `systemctl` on a machine here: a small script asks the program that runs the machine, as the real one asks the init process.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRefusal } from '../refusal.ts';
import { openUnit, type Unit, type UnitPlace } from './unit.ts';
import { parseUnit } from './unit-file.ts';

/** What the program prints, and its exit code. */
export interface Said {
  readonly code: number;
  readonly text: string;
}

export interface Init {
  /** Carries out the words of one command. */
  systemctl(words: readonly string[]): Promise<Said>;
  /** Starts what is enabled, as at every start of the machine. */
  startEnabled(): void;
  /** Ends all, and lets nothing be started any more. */
  stopAll(graceMs: number): Promise<void>;
}

const STOP_GRACE_MS = 10_000;
const DONE: Said = { code: 0, text: '' };
const NO_UNIT = 5;
const INACTIVE = 3;

const unitName = (word: string): string => (word.includes('.') ? word : `${word}.service`);

export interface InitPlace extends Omit<UnitPlace, 'logPath'> {
  logPath(unit: string): string;
  /** Someone in the machine shuts it down. */
  powerOff(): void;
}

export function openInit(root: string, place: InitPlace): Init {
  const units = join(root, 'etc/systemd/system');
  const wants = join(units, 'multi-user.target.wants');
  const known = new Map<string, Unit>();
  let isDown = false;

  function unitOf(name: string): Unit {
    const unit =
      known.get(name) ??
      openUnit(() => parseUnit(readFileSync(join(units, name), 'utf8')), { ...place, logPath: place.logPath(name) });
    known.set(name, unit);
    return unit;
  }

  const verbs: Readonly<Record<string, (name: string, isNow: boolean) => Promise<Said> | Said>> = {
    start(name) {
      unitOf(name).start();
      return DONE;
    },
    async stop(name) {
      await unitOf(name).stop(STOP_GRACE_MS);
      return DONE;
    },
    async restart(name) {
      await unitOf(name).stop(STOP_GRACE_MS);
      unitOf(name).start();
      return DONE;
    },
    enable(name, isNow) {
      mkdirSync(wants, { recursive: true });
      writeFileSync(join(wants, name), '');
      if (isNow) unitOf(name).start();
      return DONE;
    },
    async disable(name, isNow) {
      rmSync(join(wants, name), { force: true });
      if (isNow) await unitOf(name).stop(STOP_GRACE_MS);
      return DONE;
    },
    'is-active': (name) =>
      unitOf(name).isActive() ? { code: 0, text: 'active' } : { code: INACTIVE, text: 'inactive' },
    'is-enabled': (name) =>
      existsSync(join(wants, name)) ? { code: 0, text: 'enabled' } : { code: 1, text: 'disabled' },
  };

  async function act(verb: string, name: string, isNow: boolean): Promise<Said> {
    const run = verbs[verb];
    if (!run) return { code: 1, text: `Unknown command verb ${verb}.` };
    if (!existsSync(join(units, name))) return { code: NO_UNIT, text: `Unit ${name} could not be found.` };
    try {
      return await run(name, isNow);
    } catch (thrown) {
      if (isRefusal(thrown)) return { code: 1, text: thrown.message };
      throw thrown;
    }
  }

  return {
    async systemctl(words) {
      const [verb = '', ...names] = words.filter((word) => !word.startsWith('-'));
      if (verb === 'daemon-reload') return DONE;
      if (isDown) return { code: 1, text: 'The machine is going down.' };
      if (verb === 'poweroff') {
        place.powerOff();
        return DONE;
      }
      let said = DONE;
      for (const name of names) {
        said = await act(verb, unitName(name), words.includes('--now'));
        if (said.code !== 0) break;
      }
      return said;
    },
    startEnabled() {
      for (const name of existsSync(wants) ? readdirSync(wants) : []) unitOf(name).start();
    },
    async stopAll(graceMs) {
      isDown = true;
      await Promise.all([...known.values()].map((unit) => unit.stop(graceMs)));
    },
  };
}

/** The script itself; the first line of the answer is its exit code. */
export function systemctlScript(address: string): string {
  return `#!/bin/sh
words=$(printf '%s\\n' "$@")
said=$(curl -fsS --noproxy '*' --data-binary "$words" ${address}) || exit 1
code=\${said%%:*}
text=\${said#*:}
[ -z "$text" ] || printf '%s\\n' "$text"
exit "$code"
`;
}

export const saidText = ({ code, text }: Said): string => `${code}:${text}`;

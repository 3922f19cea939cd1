// Agents for tests of this folder: the real program is tried together with the server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { livingAll, signalEach } from './living.ts';
import { machineNames, openMachineFolder } from './machine-folder.ts';

/** An agent that does nothing but live. */
export const IDLE_AGENT: readonly string[] = ['/bin/sh', '-c', 'sleep 300 & wait', 'stand-in'];

export function newDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'muster-process-'));
}

export function contextFor(dataDir: string, more: Partial<Context> = {}): Context {
  return {
    cluster: 'cluster1',
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    fetch,
    shared: openShared(),
    dataDir,
    agentCommand: IDLE_AGENT,
    ...more,
  };
}

/** The names of machines of which anything lives; asked past any backend. */
export function livingNames(dataDir: string): string[] {
  const path = join(dataDir, 'machines');
  return machineNames(path).filter((name) => {
    const folder = openMachineFolder(path, name);
    const record = folder.record();
    return record !== undefined && livingAll(folder, record).length > 0;
  });
}

/** Ends everything that was started for it, then removes it. */
export function clearDataDir(dataDir: string): void {
  const path = join(dataDir, 'machines');
  for (let rounds = 0, names = livingNames(dataDir); names.length > 0 && rounds < 100; rounds++) {
    for (const name of names) {
      const folder = openMachineFolder(path, name);
      const record = folder.record();
      if (record) signalEach(livingAll(folder, record), 'SIGKILL');
    }
    names = livingNames(dataDir);
  }
  rmSync(dataDir, { recursive: true, force: true });
}

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Fault } from '#core/fault.ts';
import { isAlive, type ProcessMark, processStart } from '#host/processes.ts';

function readHolder(path: string): ProcessMark | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessMark;
  } catch {
    return undefined;
  }
}

/** Two agents in one folder would mix up their sessions, so the second one is refused. */
export function lockFolder(path: string, folder: string): void {
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid, start: processStart(process.pid) }), { mode: 0o600 });
  try {
    linkSync(mine, path);
  } catch {
    const holder = readHolder(path);
    if (holder && holder.pid !== process.pid && isAlive(holder)) {
      rmSync(mine);
      throw new Fault('conflict', `Another agent (process ${holder.pid}) uses ${folder}.`, {
        remedy: 'Stop it, or set another folder for this agent (daemon_config.work_dir_path).',
      });
    }
    renameSync(mine, path);
    return;
  }
  rmSync(mine);
}

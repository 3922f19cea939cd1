// What an agent writes down about its sessions, as far as we need it: who leads their processes.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { type ProcessMark, parseShellMark } from '#host/processes.ts';
import { firstLine, forbid, readRecord } from './machine-folder.ts';

interface SessionRecord {
  readonly boot: string;
  readonly launch: number;
}

interface SessionFolder {
  readonly path: string;
  readonly record: SessionRecord;
}

function foldersIn(workDir: string): SessionFolder[] {
  const sessions = join(workDir, 'sessions');
  if (!existsSync(sessions)) return [];
  return readdirSync(sessions).flatMap((name) => {
    const path = join(sessions, name);
    const record = readRecord<SessionRecord>(join(path, 'record.json'));
    // Without a record nothing of it has started.
    return record ? [{ path, record }] : [];
  });
}

/** The first processes of all sessions, living or not: each leads a group, or a terminal of its own. */
export function sessionLeaders(workDir: string): ProcessMark[] {
  return foldersIn(workDir).flatMap(({ path, record }) => {
    const files = existsSync(path) ? readdirSync(path) : [];
    return files
      .filter((file) => file === 'terminal' || /^pid\.\d+$/.test(file))
      .flatMap((file) => parseShellMark(firstLine(join(path, file)), record.boot)?.mark ?? []);
  });
}

/** What a dead agent was about to start never starts. */
export async function forbidSessions(workDir: string, clock: Clock): Promise<void> {
  for (const { path, record } of foldersIn(workDir)) await forbid(join(path, `pid.${record.launch}`), clock);
}

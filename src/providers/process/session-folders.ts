// What an agent writes down about its sessions, as far as we need it: who leads their processes.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { type ProcessMark, parseShellMark } from '#host/processes.ts';
import { firstLine, forbid, type MachineRecord, readRecord } from './machine-folder.ts';
import { writeFirstAs } from './other-user.ts';

interface SessionRecord {
  readonly boot: string;
  readonly launch: number;
}

interface SessionFolder {
  readonly path: string;
  readonly record: SessionRecord;
}

/** What of a machine is needed to find its sessions. */
type Place = Pick<MachineRecord, 'workDir' | 'account'>;

/** What another user has made unreadable must not keep us from listing all others. */
function readable<T>({ account }: Place, read: () => T, otherwise: T): T {
  if (!account) return read();
  try {
    return read();
  } catch {
    return otherwise;
  }
}

function foldersIn(place: Place): SessionFolder[] {
  const sessions = join(place.workDir, 'sessions');
  if (!existsSync(sessions)) return [];
  return readable(place, () => readdirSync(sessions), []).flatMap((name) => {
    const path = join(sessions, name);
    const record = readable(place, () => readRecord<SessionRecord>(join(path, 'record.json')), undefined);
    // Without a record nothing of it has started.
    return record ? [{ path, record }] : [];
  });
}

/** The first processes of all sessions, living or not: each leads a group, or a terminal of its own. */
export function sessionLeaders(place: Place): ProcessMark[] {
  const leaderIn = (path: string, { boot }: SessionRecord): ProcessMark[] =>
    readable(place, () => parseShellMark(firstLine(path), boot)?.mark ?? [], []) as ProcessMark[];
  return foldersIn(place).flatMap(({ path, record }) => {
    const files = existsSync(path) ? readable(place, () => readdirSync(path), []) : [];
    return files
      .filter((file) => file === 'terminal' || /^pid\.\d+$/.test(file))
      .flatMap((file) => leaderIn(join(path, file), record));
  });
}

/** What a dead agent was about to start never starts. */
export async function forbidSessions(place: Place, clock: Clock): Promise<void> {
  const { account } = place;
  for (const { path, record } of foldersIn(place)) {
    const pidPath = join(path, `pid.${record.launch}`);
    if (!account) await forbid(pidPath, clock);
    // A link in its way leads no further than that user may go.
    else await forbid(pidPath, clock, (file, line) => writeFirstAs(account, file, line)).catch(() => {});
  }
}

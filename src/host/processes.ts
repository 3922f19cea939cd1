// Processes of this machine. A pid alone is ambiguous: the system reuses it after the process has gone.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A process, distinct from every later one with the same pid. */
export interface ProcessMark {
  readonly pid: number;
  /** When it started, as the system tells it. */
  readonly start: string;
}

interface Stat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startTicks: string;
}

// proc(5): the name in parentheses may hold blanks and parentheses itself; the fields after it count from the third.
function parseStat(text: string): Stat | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const startTicks = fields[19];
  if (startTicks === undefined) return undefined;
  const parent = Number(fields[1]);
  return { state: fields[0] as string, parent, group: Number(fields[2]), session: Number(fields[3]), startTicks };
}

function readStat(pid: number): Stat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

const hasProc = process.platform === 'linux';

/** Differs after each start of the machine, where the start times of processes begin anew. */
export function bootId(): string {
  return hasProc ? readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim() : '';
}

function ask(columns: string, pid?: number): string {
  const which = pid === undefined ? ['-A'] : ['-p', String(pid)];
  try {
    return execFileSync('ps', ['-o', columns, ...which], { encoding: 'latin1', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

/** When that process started; nothing where it has ended, even if its parent has not reaped it yet. */
export function processStart(pid: number, boot = bootId()): string | undefined {
  if (hasProc) {
    const stat = readStat(pid);
    return stat && !'ZX'.includes(stat.state) ? `${boot}/${stat.startTicks}` : undefined;
  }
  const [state = 'Z', ...start] = ask('stat=,lstart=', pid).trim().split(/\s+/);
  return state.startsWith('Z') || start.length === 0 ? undefined : start.join(' ');
}

/**
 * What a shell of ours writes down about itself before it does anything else: `<pid> <word>… | <start>`, where the start
 * is its line of /proc or the answer of ps. In a shell: `SELF_OF_SHELL`, then `echo "$$ … | $muster_self"`.
 */
export function parseShellMark(
  line: string,
  boot: string,
): { readonly mark: ProcessMark; readonly words: readonly string[] } | undefined {
  const bar = line.indexOf('|');
  if (bar < 0) return undefined;
  const [pid, ...words] = line.slice(0, bar).trim().split(/\s+/);
  const start = startOfShell(line.slice(bar + 1), boot);
  return start !== undefined && Number(pid) > 1 ? { mark: { pid: Number(pid), start }, words } : undefined;
}

/** Sets `$muster_self` in a POSIX shell to what it knows of its own start. */
export const SELF_OF_SHELL = 'read -r muster_self </proc/$$/stat || muster_self=$(command -p ps -o lstart= -p $$)';

function startOfShell(text: string, boot: string): string | undefined {
  if (!text.includes(')')) return text.trim().split(/\s+/).join(' ') || undefined;
  const stat = parseStat(text);
  return stat && `${boot}/${stat.startTicks}`;
}

export function isAlive({ pid, start }: ProcessMark): boolean {
  return processStart(pid) === start;
}

/** The user that started that process, by number; nothing where it has ended. */
export function ownerOf(pid: number): number | undefined {
  if (!hasProc) return Number.parseInt(ask('ruid=', pid), 10) || undefined;
  try {
    const real = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return real === undefined ? undefined : Number(real);
  } catch {
    return undefined;
  }
}

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** All living processes. */
function processTable(): Entry[] {
  if (hasProc) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(Number).flatMap((pid) => {
      const stat = readStat(pid);
      return stat && !'ZX'.includes(stat.state)
        ? [{ pid, parent: stat.parent, group: stat.group, session: stat.session }]
        : [];
    });
  }
  // Sessions have no portable name in ps; their first group is what can be found.
  const rows = ask('pid=,ppid=,pgid=,stat=')
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return rows
    .filter(([, , , state]) => state !== undefined && !state.startsWith('Z'))
    .map(([pid, parent, group]) => ({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(group),
    }));
}

/** The living processes of a process group, or of a session in the sense of setsid(2). */
export function membersOf(what: 'group' | 'session', id: number): number[] {
  return processTable()
    .filter((entry) => entry[what] === id)
    .map(({ pid }) => pid);
}

/** The living members of the groups and sessions that these processes led, themselves among them. */
export function ledBy(leaders: readonly ProcessMark[]): number[] {
  if (leaders.length === 0) return [];
  const boot = bootId();
  const numbers = new Set(leaders.filter((leader) => isStillIts(leader, boot)).map(({ pid }) => pid));
  if (numbers.size === 0) return [];
  return processTable()
    .filter(({ group, session }) => numbers.has(group) || numbers.has(session))
    .map(({ pid }) => pid);
}

/** These processes and all that descend from them, as far as each parent in between still lives. */
export function withDescendants(pids: readonly number[]): number[] {
  if (!hasProc) return [...pids];
  const children = new Map<number, number[]>();
  for (const { pid, parent } of processTable()) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(pid);
    else children.set(parent, [pid]);
  }
  const found = new Set<number>();
  const left = [...pids];
  for (let pid = left.pop(); pid !== undefined; pid = left.pop()) {
    if (found.has(pid)) continue;
    found.add(pid);
    left.push(...(children.get(pid) ?? []));
  }
  return [...found];
}

/** False where no process receives it. A negative number means a whole group. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  // 0, 1 and -1 would reach ourselves, everybody's parent, or everybody.
  if (Math.abs(pid) < 2) return false;
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Whether that number, as a group or a session, can still mean what this process led: it stays taken while there are
 * members, so an absent leader means its own members or none, unless the machine was started anew.
 */
export function isStillIts({ pid, start }: ProcessMark, boot = bootId()): boolean {
  const current = processStart(pid, boot);
  if (current !== undefined) return current === start;
  return !hasProc || start.startsWith(`${boot}/`);
}

/** Signals the group that this process led; does nothing once another process has its pid. */
export function signalGroup(leader: ProcessMark, signal: NodeJS.Signals): boolean {
  return isStillIts(leader) && sendSignal(-leader.pid, signal);
}

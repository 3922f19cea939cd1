// What of a machine is alive. A process can leave its group and its session, but not its machine.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { ledBy, type ProcessMark } from '#host/processes.ts';

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

// proc(5): the fields after the name in parentheses are state and parent.
const parentOf = (pid: number): number => {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
};

const isGone = (pid: number): boolean => {
  const stat = read(`/proc/${pid}/stat`);
  return stat === '' || 'ZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2));
};

/** The variables that a machine gives to its processes name its folder, and so does where they work. */
function hasSign(pid: number, folder: string): boolean {
  return read(`/proc/${pid}/environ`).includes(`${folder}/`) || `${folderOf(pid)}/`.startsWith(`${folder}/`);
}

/** Adds what these have started, and what those have. */
function withChildren(all: readonly number[], found: ReadonlySet<number>): Set<number> {
  const parents = new Map(all.map((pid) => [pid, parentOf(pid)]));
  const family = new Set(found);
  for (let size = -1; size !== family.size; ) {
    size = family.size;
    for (const [pid, parent] of parents) if (family.has(parent)) family.add(pid);
  }
  return family;
}

/** Every living process of the machine: by who led it, by its environment, by where it works, by who started it. */
export function livingOf(folder: string, leaders: readonly ProcessMark[]): number[] {
  const led = ledBy(leaders);
  if (process.platform !== 'linux') return led;
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && !isGone(pid));
  const found = new Set([...led, ...all.filter((pid) => hasSign(pid, folder))]);
  return [...withChildren(all, found)].filter((pid) => pid !== process.pid);
}

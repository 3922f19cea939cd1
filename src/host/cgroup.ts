// Control groups of Linux: what a process starts stays in its group, whatever session or parent it gives itself.
import { mkdirSync, readFileSync, rmdirSync, writeFile } from 'node:fs';
import { join } from 'node:path';

/** Makes control groups below that of this process, where the machine allows it. */
export interface Cgroups {
  /** The folder of a new group, or undefined where none can be made. */
  make(name: string): string | undefined;
  /** A process will be moved into a new group within milliseconds. */
  expectMove(): void;
}

export const NO_CGROUPS: Cgroups = { make: () => undefined, expectMove: () => {} };

interface Mount {
  readonly root: string;
  readonly at: string;
  readonly version: CgroupVersion;
}

export type CgroupVersion = 1 | 2;

function lines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

// proc(5): the fields after the lone dash are the kind of the file system, its source and its options. Of version 1, the
// hierarchy that only freezes processes limits nothing.
function mountOf(line: string): Mount[] {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root = '/', at = ''] = before.split(' ');
  const [kind, , options = ''] = after.split(' ');
  if (kind === 'cgroup2') return [{ root, at, version: 2 }];
  return kind === 'cgroup' && options.split(',').includes('freezer') ? [{ root, at, version: 1 }] : [];
}

/** The folder of our own group in that hierarchy. */
function ownFolder({ root, at, version }: Mount): string | undefined {
  for (const line of lines('/proc/self/cgroup')) {
    const [, controllers = '', path = '/'] = line.split(':', 3);
    const isThis = version === 2 ? controllers === '' : controllers.split(',').includes('freezer');
    if (!isThis) continue;
    return join(at, root !== '/' && path.startsWith(root) ? path.slice(root.length) : path);
  }
  return undefined;
}

function tryMake(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/**
 * Looks for a hierarchy in which this process may make groups, in that order of versions. A group of version 1 takes in
 * the only thread of a process at once; to move a whole process, the only way of version 2, takes some ten milliseconds.
 */
export function openCgroups(probe: string, versions: readonly CgroupVersion[] = [1, 2]): Cgroups {
  const found = lines('/proc/self/mountinfo').flatMap(mountOf);
  const mounts = versions.flatMap((version) => found.filter((mount) => mount.version === version));
  for (const mount of mounts) {
    const own = ownFolder(mount);
    const first = own && join(own, probe);
    if (!own || !first || !tryMake(first)) continue;
    removeCgroup(first);
    return {
      make(name) {
        const folder = join(own, name);
        return tryMake(folder) ? folder : undefined;
      },
      // The first move in a while waits some ten milliseconds until all processors have seen that one is about to happen
      // (`rcu_sync_enter` in Linux), and others share that wait. To move ourselves to where we are begins it early.
      expectMove: () => {
        if (mount.version === 2) writeFile(join(own, 'cgroup.procs'), String(process.pid), () => {});
      },
    };
  }
  return NO_CGROUPS;
}

/** The processes in that group; none where there is no such group. */
export const inCgroup = (folder: string): number[] =>
  lines(join(folder, 'cgroup.procs'))
    .map(Number)
    .filter((pid) => pid > 1);

/** False while processes are in it. */
export function removeCgroup(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

// Who listens on a TCP port of this machine, by /proc (proc(5), proc_pid_net(5)).
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A loopback address under which a listening socket can be reached. */
export type Loopback = '127.0.0.1' | '::1';

interface Listener {
  readonly host: Loopback;
  /** Bound to `::`, so it may also take connections to 127.0.0.1; /proc does not show whether it does. */
  readonly isAnyV6: boolean;
  /** As /proc shows it; one that names no socket belongs to no process of a session. */
  readonly inode: string;
}

const LISTEN = '0A';
const HEX_PORT = /^[0-9A-F]{4}$/;
const ANY_V6 = '0'.repeat(32);
// Four words of 32 bits, each in the byte order of the machine.
const LOOPBACK_V6 = `${'0'.repeat(24)}01000000`;
const MAPPED = `${'0'.repeat(16)}FFFF0000`;

/** The loopback address that reaches a socket bound to that address; undefined where none does. */
function loopbackOf(address: string): Loopback | undefined {
  if (address === ANY_V6 || address === LOOPBACK_V6) return '::1';
  const v4 = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
  return v4 === '00000000' || v4 === '0100007F' ? '127.0.0.1' : undefined;
}

/** Listening sockets of a table of /proc/net that can be reached on loopback at that port. */
export function listenersIn(table: string, port: number): Listener[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      const [address = '', hexPort = ''] = local.split(':');
      const host = loopbackOf(address);
      const isPort = HEX_PORT.test(hexPort) && Number.parseInt(hexPort, 16) === port;
      if (state !== LISTEN || !host || !isPort) return [];
      return [{ host, inode, isAnyV6: address === ANY_V6 }];
    });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** The inodes of all sockets that a process has open; none where we may not look. */
function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // Closed meanwhile.
      }
    });
  } catch {
    return [];
  }
}

const listenersOn = (port: number): Listener[] =>
  ['tcp', 'tcp6'].flatMap((name) => listenersIn(read(`/proc/self/net/${name}`), port));

/** Those that a connection to that address can reach: a socket of IPv4 is preferred to one of `::`. */
function reachedAt(host: Loopback, listeners: readonly Listener[]): readonly Listener[] {
  const there = listeners.filter((listener) => listener.host === host);
  return there.length > 0 || host === '::1' ? there : listeners.filter(({ isAnyV6 }) => isAnyV6);
}

/**
 * The loopback addresses at which only these processes listen on that port, the first one to try first. Where another
 * process listens at the same address too, a connection could reach that one, so the address is left out.
 */
export function listeningAt(port: number, pids: readonly number[]): readonly Loopback[] {
  const listeners = listenersOn(port);
  if (listeners.length === 0) return [];
  const own = new Set(pids.flatMap(socketsOf));
  return (['127.0.0.1', '::1'] as const).filter((host) => {
    const there = reachedAt(host, listeners);
    return there.length > 0 && there.every(({ inode }) => own.has(inode));
  });
}

/** Whether a process listens on that port at that address. */
export const isTaken = (port: number, host: Loopback): boolean => reachedAt(host, listenersOn(port)).length > 0;

/** The process that listens on that port, where we may see it. */
export function listenerOf(port: number): { readonly pid: number; readonly program: string } | undefined {
  const inodes = new Set(listenersOn(port).map(({ inode }) => inode));
  if (inodes.size === 0) return undefined;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const pid = pids.map(Number).find((each) => socketsOf(each).some((inode) => inodes.has(inode)));
  return pid === undefined ? undefined : { pid, program: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() };
}

import { closeSync, openSync, readSync } from 'node:fs';
import { Fault } from '#core/fault.ts';

/** The Node that goes along with an agent to one kind of machine. */
export interface NodeRuntime {
  /** As Node says it: `linux-x64`, `linux-arm64`, `darwin-arm64`. */
  readonly platform: string;
  /** The executable. */
  readonly path: string;
}

/** As `uname -s` and `uname -m` print them there. */
export interface Uname {
  readonly system: string;
  readonly machine: string;
}

const SYSTEMS: Readonly<Record<string, string>> = { linux: 'Linux', darwin: 'Darwin' };
const LINUX_MACHINES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

/** Node, Linux and macOS have different words for the same machines. */
export function unameOf(platform: string): Uname {
  const [system = '', machine = ''] = platform.split('-');
  const isArmMac = system === 'darwin' && machine === 'arm64';
  return { system: SYSTEMS[system] ?? system, machine: isArmMac ? machine : (LINUX_MACHINES[machine] ?? machine) };
}

// https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html: e_machine, two bytes at 18.
const ELF = '\x7fELF';
const ELF_MACHINES: Readonly<Record<number, string>> = { 62: 'linux-x64', 183: 'linux-arm64' };
const HEADER_BYTES = 20;

function headerOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(file, header, 0, HEADER_BYTES, 0);
    return header;
  } finally {
    closeSync(file);
  }
}

/** Throws where a machine of that platform could not run it, before thousands of them try. */
export function mustRunOn({ platform, path }: NodeRuntime): void {
  const at = `agent.runtimes.${platform}`;
  let header: Buffer;
  try {
    header = headerOf(path);
  } catch (thrown) {
    const why = (thrown as NodeJS.ErrnoException).code;
    throw new Fault('invalid', `Cannot read ${path}: ${why}.`, { at, remedy: 'Set the path of a Node executable.' });
  }
  if (!platform.startsWith('linux-')) return;
  const found = header.toString('latin1', 0, 4) === ELF ? ELF_MACHINES[header.readUInt16LE(18)] : undefined;
  if (found === platform) return;
  const why = found === undefined ? `is not an executable for ${platform}` : `is for ${found}, not for ${platform}`;
  throw new Fault('invalid', `${path} ${why}.`, {
    at,
    remedy: `Set the path of a Node executable for ${platform}.`,
  });
}

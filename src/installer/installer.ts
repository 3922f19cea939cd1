import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { writeArchive } from './archive.ts';
import type { Bundle } from './bundle.ts';
import { findPacked, notePacked, type Packed } from './packed-before.ts';
import { installScript, type ScriptFacts } from './script.ts';

export interface InstallerOptions {
  readonly bundle: Bundle;
  /** Where archives are kept. */
  readonly folder: string;
  /** The runtime that goes along. */
  readonly node: string;
  readonly system: { readonly name: string; readonly machine: string };
  /** Asked when the script is: addresses and certificates may change. */
  readonly facts: () => Pick<ScriptFacts, 'broker' | 'brokerCa' | 'originCa'>;
}

export interface OfferedFile {
  readonly bytes: number;
  readonly sha256: string;
  readonly mediaType: string;
  open(): Readable;
}

/** The agent for machines that have nothing yet, and for this one. */
export interface Installer {
  /** Ready to run with our own Node. */
  readonly bundle: Bundle;
  installScript(origin: string): Promise<string>;
  /** Packs the archive in the background, unless that was done before. */
  offer(): Promise<void>;
  /** The archive, once it is packed. */
  offered(): { readonly name: string; readonly sha256: string } | undefined;
  /** Looks in a closed list: a name is never joined to a path. */
  find(name: string): Promise<OfferedFile | undefined>;
}

const LAUNCHER = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/node" "$here/agent.mjs" "$@"
`;

/** uname and Node have different words for the same machines. */
const UNAME: Readonly<Record<string, string>> = { linux: 'Linux', darwin: 'Darwin', x64: 'x86_64', arm64: 'aarch64' };
export const unameOf = (word: string): string => UNAME[word] ?? word;

export function openInstaller(options: InstallerOptions): Installer {
  const { bundle } = options;
  const system = unameOf(options.system.name);
  const machine = unameOf(options.system.machine);
  const name = `muster-agent-${options.system.name}-${options.system.machine}.tar.gz`;
  const path = join(options.folder, name);
  const ingredients = [bundle.path, options.node];
  let made: Promise<OfferedFile> | undefined;
  let packed: Packed | undefined;

  const asFile = ({ sha256, bytes }: Packed): OfferedFile => ({
    sha256,
    bytes,
    mediaType: 'application/gzip',
    open: () => createReadStream(path),
  });

  async function pack(): Promise<Packed> {
    const before = findPacked(path, ingredients);
    if (before) return before;
    const now = await writeArchive(
      [
        { name: 'muster-agent', mode: 0o755, from: { text: LAUNCHER } },
        { name: 'agent.mjs', mode: 0o644, from: { path: bundle.path } },
        { name: 'node', mode: 0o755, from: { path: options.node } },
      ],
      path,
    );
    notePacked(path, now, ingredients);
    return now;
  }

  // Packing the runtime takes seconds, so it waits for the first machine that asks.
  function archive(): Promise<OfferedFile> {
    made ??= pack().then((done) => {
      packed = done;
      return asFile(done);
    });
    made.catch(() => (made = undefined));
    return made;
  }

  function program(): OfferedFile {
    const contents = readFileSync(bundle.path);
    const sha256 = createHash('sha256').update(contents).digest('hex');
    return { sha256, bytes: contents.length, mediaType: 'text/javascript', open: () => createReadStream(bundle.path) };
  }

  return {
    bundle,
    async installScript(origin) {
      const { sha256 } = await archive();
      return installScript({ ...options.facts(), origin, archive: name, sha256, system, machine });
    },
    offer: async () => void (await archive()),
    offered: () => packed && { name, sha256: packed.sha256 },
    async find(wanted) {
      if (wanted === name) return archive();
      return wanted === 'agent.mjs' ? program() : undefined;
    },
  };
}

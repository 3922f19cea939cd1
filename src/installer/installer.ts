import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { writeArchive } from './archive.ts';
import type { Bundle } from './bundle.ts';
import { findPacked, notePacked, type Packed } from './packed-before.ts';
import { type Runtime, type Uname, unameOf } from './runtime.ts';
import { installScript, type ScriptFacts } from './script.ts';

export interface InstallerOptions {
  readonly bundle: Bundle;
  /** Where archives are kept. */
  readonly folder: string;
  /** One for each kind of machine; the first is that of this very machine. */
  readonly runtimes: readonly Runtime[];
  /** Asked when the script is: addresses and certificates may change. */
  readonly facts: () => Pick<ScriptFacts, 'broker' | 'brokerCa' | 'originCa'>;
}

export interface OfferedFile {
  readonly bytes: number;
  readonly sha256: string;
  readonly mediaType: string;
  open(): Readable;
}

/** The agent with its runtime, for one kind of machine. */
export interface OfferedArchive extends Uname {
  readonly name: string;
  readonly sha256: string;
}

/** The agent for machines that have nothing yet, and for this one. */
export interface Installer {
  /** Ready to run with our own Node. */
  readonly bundle: Bundle;
  installScript(origin: string): Promise<string>;
  /** Packs what is offered in the background, unless that was done before. */
  offer(): Promise<void>;
  /** The archives, once all of them are packed. */
  offered(): readonly OfferedArchive[] | undefined;
  /** Looks in a closed list: a name is never joined to a path. */
  find(name: string): Promise<OfferedFile | undefined>;
}

const LAUNCHER = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/node" "$here/agent.mjs" "$@"
`;

interface Archive extends Uname {
  readonly name: string;
  readonly file: () => Promise<OfferedFile>;
  packed: Packed | undefined;
}

function openArchive({ bundle, folder }: InstallerOptions, runtime: Runtime): Archive {
  const name = `muster-agent-${runtime.platform}.tar.gz`;
  const path = join(folder, name);
  const ingredients = [bundle.path, runtime.path];
  let made: Promise<OfferedFile> | undefined;

  async function pack(): Promise<Packed> {
    const before = findPacked(path, ingredients);
    if (before) return before;
    const now = await writeArchive(
      [
        { name: 'muster-agent', mode: 0o755, from: { text: LAUNCHER } },
        { name: 'agent.mjs', mode: 0o644, from: { path: bundle.path } },
        { name: 'node', mode: 0o755, from: { path: runtime.path } },
      ],
      path,
    );
    notePacked(path, now, ingredients);
    return now;
  }

  const archive: Archive = {
    ...unameOf(runtime.platform),
    name,
    packed: undefined,
    // Packing the runtime takes seconds, so it waits for the first machine that asks.
    file() {
      made ??= pack().then((packed) => {
        archive.packed = packed;
        return { ...packed, mediaType: 'application/gzip', open: () => createReadStream(path) };
      });
      made.catch(() => (made = undefined));
      return made;
    },
  };
  return archive;
}

export function openInstaller(options: InstallerOptions): Installer {
  const { bundle } = options;
  const archives = options.runtimes.map((runtime) => openArchive(options, runtime));

  /** One after the other: each takes a whole core. */
  async function packAll(): Promise<void> {
    for (const archive of archives) await archive.file();
  }

  function offered(): readonly OfferedArchive[] | undefined {
    const ready = archives.flatMap(({ name, system, machine, packed }) =>
      packed ? [{ name, system, machine, sha256: packed.sha256 }] : [],
    );
    return ready.length === archives.length ? ready : undefined;
  }

  function program(): OfferedFile {
    const contents = readFileSync(bundle.path);
    const sha256 = createHash('sha256').update(contents).digest('hex');
    return { sha256, bytes: contents.length, mediaType: 'text/javascript', open: () => createReadStream(bundle.path) };
  }

  return {
    bundle,
    async installScript(origin) {
      await packAll();
      return installScript({ ...options.facts(), origin, archives: offered() ?? [] });
    },
    offer: packAll,
    offered,
    async find(wanted) {
      if (wanted === 'agent.mjs') return program();
      return archives.find(({ name }) => name === wanted)?.file();
    },
  };
}

import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { writeArchive } from './archive.ts';
import { type ArchiveCache, archiveName, openArchiveCache, type Packed } from './archive-cache.ts';
import type { Bundle } from './bundle.ts';
import { type NodeRuntime, type Uname, unameOf } from './runtime.ts';
import { installScript, type ScriptFacts } from './script.ts';

export interface InstallerOptions {
  readonly bundle: Bundle;
  /** Where archives are kept. */
  readonly folder: string;
  /** One for each kind of machine; the first is that of this very machine. */
  readonly runtimes: readonly NodeRuntime[];
  /** Asked when the script is: addresses and certificates may change. */
  readonly facts: () => Pick<ScriptFacts, 'broker' | 'otherBrokers' | 'brokerCa' | 'originCa'>;
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

/** What goes to one kind of machine. */
interface Parcel extends Uname {
  pack(): Promise<Packed>;
  packed: Packed | undefined;
}

function openParcel({ bundle, folder }: InstallerOptions, cache: ArchiveCache, runtime: NodeRuntime): Parcel {
  const { platform } = runtime;
  const ingredients = [bundle.path, runtime.path];
  let packing: Promise<Packed> | undefined;

  async function make(): Promise<Packed> {
    const before = cache.current(platform, ingredients);
    if (before) return before;
    const draft = join(folder, `draft-${platform}-${process.pid}.tar.gz`);
    const { sha256, bytes } = await writeArchive(
      [
        { name: 'muster-agent', mode: 0o755, from: { text: LAUNCHER } },
        { name: 'agent.mjs', mode: 0o644, from: { path: bundle.path } },
        { name: 'node', mode: 0o755, from: { path: runtime.path } },
      ],
      draft,
    );
    const packed = { name: archiveName(platform, sha256), sha256, bytes };
    await rename(draft, join(folder, packed.name));
    cache.keep(platform, packed, ingredients);
    return packed;
  }

  const parcel: Parcel = {
    ...unameOf(platform),
    packed: undefined,
    // Packing the runtime takes seconds, so it waits for the first machine that asks.
    pack() {
      packing ??= make().then((packed) => (parcel.packed = packed));
      packing.catch(() => (packing = undefined));
      return packing;
    },
  };
  return parcel;
}

export function openInstaller(options: InstallerOptions): Installer {
  const { bundle, folder } = options;
  // A packaged server has its bundle elsewhere, and has made no folder for it.
  mkdirSync(folder, { recursive: true });
  const cache = openArchiveCache(folder);
  const parcels = options.runtimes.map((runtime) => openParcel(options, cache, runtime));

  /** One after the other: each takes a whole core. */
  async function packAll(): Promise<void> {
    for (const parcel of parcels) await parcel.pack();
  }

  function offered(): readonly OfferedArchive[] | undefined {
    const ready = parcels.flatMap(({ system, machine, packed }) => (packed ? [{ ...packed, system, machine }] : []));
    return ready.length === parcels.length ? ready : undefined;
  }

  function archive(wanted: string): OfferedFile | undefined {
    const found = cache.find(wanted);
    if (!found) return undefined;
    const { name, sha256, bytes } = found;
    return { sha256, bytes, mediaType: 'application/gzip', open: () => createReadStream(join(folder, name)) };
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
    find: async (wanted) => (wanted === 'agent.mjs' ? program() : archive(wanted)),
  };
}

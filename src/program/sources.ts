import type { KnownKinds } from '#config/kinds.ts';
import { CONFIG_SOURCE, type ServerConfig, staticDocuments } from '#config/server-file.ts';
import type { SourceConfig } from '#config/source-schema.ts';
import { Fault } from '#core/fault.ts';
import { withFields } from '#core/log.ts';
import type { Context, Source } from '#core/provider.ts';
import type { OpenedSource } from '#pools/pools.ts';

// The file is read when it changes; this only confirms what has gone from it.
const STATIC_EVERY_MS = 5_000;

function staticSource(config: ServerConfig): OpenedSource {
  const documents = staticDocuments(config);
  const source: Source = {
    documents: async (held) =>
      documents.map(({ key, version, text }) =>
        held.get(key) === version ? { key, version } : { key, version, text },
      ),
  };
  return { id: CONFIG_SOURCE, kind: 'config', source, everyMs: STATIC_EVERY_MS, trust: 'operator' };
}

/** A source that cannot be opened says so at every sync, and its pools stay as they are. */
function failing(thrown: unknown): Source {
  const fault = Fault.from(thrown);
  return { documents: () => Promise.reject(fault) };
}

/** Plug-ins are loaded at the start: one that was named since is read by the check of the file, and not yet here. */
function unknownKind(kind: string): never {
  throw new Fault('unsupported', `The provisioner ${kind} comes with a plug-in that this process has not loaded.`, {
    remedy: 'Restart the server: `plugins` is read at the start.',
  });
}

async function openSource(entry: SourceConfig, kinds: KnownKinds, context: Context): Promise<OpenedSource> {
  const kind = kinds.sources[entry.kind];
  const log = withFields(context.log, { provisioner: entry.id });
  const open = async (): Promise<Source> => (kind ?? unknownKind(entry.kind)).open(entry.config, { ...context, log });
  const source = await open().catch(failing);
  const { id, place, everyMs, allow } = entry;
  const trust = kind?.isOperators || entry.config.trusted === true ? 'operator' : 'foreign';
  return { id, kind: entry.kind, place, everyMs, allow, source, trust };
}

/** All sources that the configuration names, its own pools first. */
export async function openSources(config: ServerConfig, kinds: KnownKinds, context: Context): Promise<OpenedSource[]> {
  return [
    staticSource(config),
    ...(await Promise.all(config.sources.map((entry) => openSource(entry, kinds, context)))),
  ];
}

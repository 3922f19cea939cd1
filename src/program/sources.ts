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

async function openSource(entry: SourceConfig, kinds: KnownKinds, context: Context): Promise<OpenedSource> {
  const kind = kinds.sources[entry.kind];
  if (!kind) throw new Fault('internal', `The source kind ${entry.kind} has vanished.`);
  const log = withFields(context.log, { provisioner: entry.id });
  const source = await kind.open(entry.config, { ...context, log }).catch(failing);
  const { id, place, everyMs, allow } = entry;
  const trust = kind.isOperators || entry.config.trusted === true ? 'operator' : 'foreign';
  return { id, kind: entry.kind, place, everyMs, allow, source, trust };
}

/** All sources that the configuration names, its own pools first. */
export async function openSources(config: ServerConfig, kinds: KnownKinds, context: Context): Promise<OpenedSource[]> {
  return [
    staticSource(config),
    ...(await Promise.all(config.sources.map((entry) => openSource(entry, kinds, context)))),
  ];
}

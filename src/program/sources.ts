import type { Gate } from '#clouds/gate.ts';
import { canonicalJson } from '#config/canonical.ts';
import type { KnownKinds } from '#config/kinds.ts';
import { CONFIG_SOURCE, type ServerConfig, staticDocuments } from '#config/server-file.ts';
import type { SourceConfig } from '#config/source-schema.ts';
import { Fault } from '#core/fault.ts';
import { withFields } from '#core/log.ts';
import type { Context, Source } from '#core/provider.ts';
import type { OpenedSource } from '#pools/pools.ts';

// The file is read when it changes; this only confirms what has gone from it.
const STATIC_EVERY_MS = 5_000;

/** The sources of one configuration after another. */
export interface ConfiguredSources {
  /** All that the configuration names, its own pools first; one that is in use under an equal configuration stays. */
  open(config: ServerConfig): Promise<readonly OpenedSource[]>;
  /** These are in use from now on; `pools` closes the others. */
  use(sources: readonly OpenedSource[]): void;
  /** Closes what was opened for a configuration that is not taken up. */
  discard(sources: readonly OpenedSource[]): Promise<void>;
}

function openStatic(config: ServerConfig): Source {
  const documents = staticDocuments(config);
  return {
    documents: async (held) =>
      documents.map(({ key, version, text }) =>
        held.get(key) === version ? { key, version } : { key, version, text },
      ),
  };
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

const OPEN_TIMEOUT_MS = 30_000;

export interface SourcesDeps {
  readonly kinds: KnownKinds;
  readonly context: Context;
  readonly gate: Gate;
}

/** Opening may ask the outside, so it goes through the gate too. */
export function configuredSources({ kinds, context, gate }: SourcesDeps): ConfiguredSources {
  /** What each was opened from; one that could not be opened is not here, and is tried again. */
  const madeFrom = new WeakMap<Source, string>();
  let inUse: ReadonlyMap<string, Source> = new Map();
  const wereUsed = new WeakSet<Source>();

  async function reuse(id: string, from: string, open: () => Promise<Source>): Promise<Source> {
    const before = inUse.get(id);
    if (before && madeFrom.get(before) === from) return before;
    const opened = await open();
    madeFrom.set(opened, from);
    return opened;
  }

  async function openStaticSource(config: ServerConfig): Promise<OpenedSource> {
    const from = staticDocuments(config).map(({ key, version }) => `${version} ${key}`);
    const source = await reuse(CONFIG_SOURCE, from.join('\n'), async () => openStatic(config));
    return { id: CONFIG_SOURCE, kind: 'config', source, everyMs: STATIC_EVERY_MS, trust: 'operator' };
  }

  async function openSource(entry: SourceConfig): Promise<OpenedSource> {
    const kind = kinds.sources[entry.kind];
    const log = withFields(context.log, { provisioner: entry.id });
    const call = { name: 'open', is: 'read', account: entry.id, owner: entry.id, timeoutMs: OPEN_TIMEOUT_MS } as const;
    const open = (): Promise<Source> =>
      gate.call({ ...call, signal: new AbortController().signal }, async () =>
        (kind ?? unknownKind(entry.kind)).open(entry.config, { ...context, log }),
      );
    const from = canonicalJson({ kind: entry.kind, config: entry.config });
    const source = await reuse(entry.id, from, open).catch(failing);
    const { id, place, everyMs, allow } = entry;
    const trust = kind?.isOperators || entry.config.trusted === true ? 'operator' : 'foreign';
    const { mayName, limits } = kind ?? {};
    return { id, kind: entry.kind, place, everyMs, allow, source, trust, mayName, limits };
  }

  return {
    open: (config) => Promise.all([openStaticSource(config), ...config.sources.map(openSource)]),
    use(sources) {
      inUse = new Map(sources.map(({ id, source }) => [id, source]));
      for (const { source } of sources) wereUsed.add(source);
    },
    async discard(sources) {
      const unused = sources.filter(({ source }) => !wereUsed.has(source));
      await Promise.allSettled(unused.map(async ({ source }) => source.close?.()));
    },
  };
}

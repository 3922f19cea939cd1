import type { Fault } from '#core/fault.ts';
import type { PoolSpec } from '#core/pool.ts';

/** What a source says under one key, as this process has read it: a definition, or what is wrong with it. */
export interface ParsedDocument {
  readonly source: string;
  readonly key: string;
  readonly version: string;
  /** When its writer made it, where the source knows. */
  readonly since?: number | undefined;
  readonly spec?: PoolSpec | undefined;
  readonly fault?: Fault | undefined;
}

/** All parsed documents, by source and by the name of the pool that they define. */
export interface ParsedDocuments {
  of(source: string): ReadonlyMap<string, ParsedDocument>;
  /** The versions of the good ones of a source, by key. */
  heldOf(source: string): ReadonlyMap<string, string>;
  get(source: string, key: string): ParsedDocument | undefined;
  /** The good ones that define this pool. */
  named(name: string): readonly ParsedDocument[];
  /** Answers the one that was there before. */
  set(parsed: ParsedDocument): ParsedDocument | undefined;
  delete(source: string, key: string): ParsedDocument | undefined;
  /** Grows with every change, of whichever source. */
  revision(): number;
  /** Forgets all of a source; answers the names that it claimed. */
  forget(source: string): ReadonlySet<string>;
}

const NONE = new Map<string, never>();

export function keepParsedDocuments(): ParsedDocuments {
  const bySource = new Map<string, Map<string, ParsedDocument>>();
  // Kept, not collected at each listing: sources are listed all day, and seldom change.
  const heldBySource = new Map<string, Map<string, string>>();
  // Nearly every name has one document: a list costs little there, and is searched only among rivals.
  const byName = new Map<string, ParsedDocument[]>();
  let revision = 0;

  function hold({ source, key, version, spec }: ParsedDocument): void {
    const held = heldBySource.get(source) ?? new Map<string, string>();
    heldBySource.set(source, held);
    if (spec) held.set(key, version);
    else held.delete(key);
  }

  function name(parsed: ParsedDocument): void {
    if (!parsed.spec) return;
    const rivals = byName.get(parsed.spec.name);
    if (rivals) rivals.push(parsed);
    else byName.set(parsed.spec.name, [parsed]);
  }

  function unname(parsed: ParsedDocument): void {
    if (!parsed.spec) return;
    const rivals = byName.get(parsed.spec.name) ?? [];
    if (rivals.length > 1) rivals.splice(rivals.indexOf(parsed), 1);
    else byName.delete(parsed.spec.name);
  }

  return {
    of: (source) => bySource.get(source) ?? NONE,
    heldOf: (source) => heldBySource.get(source) ?? NONE,
    get: (source, key) => bySource.get(source)?.get(key),
    named: (name) => byName.get(name) ?? [],
    revision: () => revision,
    set(parsed) {
      revision += 1;
      const parsedDocuments = bySource.get(parsed.source) ?? new Map<string, ParsedDocument>();
      bySource.set(parsed.source, parsedDocuments);
      const before = parsedDocuments.get(parsed.key);
      if (before) unname(before);
      parsedDocuments.set(parsed.key, parsed);
      hold(parsed);
      name(parsed);
      return before;
    },
    delete(source, key) {
      revision += 1;
      const before = bySource.get(source)?.get(key);
      bySource.get(source)?.delete(key);
      heldBySource.get(source)?.delete(key);
      if (before) unname(before);
      return before;
    },
    forget(source) {
      revision += 1;
      const names = new Set<string>();
      for (const parsed of bySource.get(source)?.values() ?? []) {
        if (parsed.spec) names.add(parsed.spec.name);
        unname(parsed);
      }
      bySource.delete(source);
      heldBySource.delete(source);
      return names;
    },
  };
}

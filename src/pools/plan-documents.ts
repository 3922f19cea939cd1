// Dry runs: reads documents that are not in force, and reports what they would change.
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Pool } from '#core/pool.ts';
import { openSlices } from '#core/slices.ts';
import { API_SOURCE, documentId } from '#core/source.ts';
import { deletedIn, listDocuments, readChanged } from './listing.ts';
import type { ParsedDocument } from './parsed-documents.ts';
import { type ChangePlan, plannedChanges } from './planned-changes.ts';
import { type DocumentRules, nameIn, readPoolDocument } from './read-document.ts';
import { isConfigured, missingSource, type Registry } from './registry.ts';

/** A document as someone has it at hand; its key names it in what is said of it. */
export interface DraftDocument {
  readonly key: string;
  readonly text: string;
}

/** Computes what documents would change, and changes nothing. */
export interface Foresight {
  /**
   * What these documents would change, each in place of the one that forms its pool now, or else through the API.
   * With a source: if they were all that it holds.
   */
  foresee(drafts: readonly DraftDocument[], source: string | undefined): Promise<ChangePlan>;
  /** What a sync of that source would come to. */
  foreseeSync(source: string, signal: AbortSignal): Promise<ChangePlan>;
}

const NEW_VERSION = 'new';

function rulesOf({ runners }: Registry, source: string): DocumentRules {
  if (source === API_SOURCE) return { id: API_SOURCE, trust: 'foreign' };
  const runner = runners.get(source);
  if (runner) return runner.opened;
  throw missingSource(source);
}

const stemOf = (key: string): string => (key.split('/').at(-1) ?? key).replace(/\.(ya?ml|json)$/, '');

/** The source that a draft without one is meant for: that of its pool, or the API. */
function sourceOf(registry: Registry, name: string | undefined): string {
  const pool = name === undefined ? undefined : registry.poolNamed(name);
  return pool && !pool.removal && isConfigured(registry, pool.owner.source) ? pool.owner.source : API_SOURCE;
}

/** Where a draft lies in that source: where its pool is defined now, or under its own key. */
function keyOf(
  registry: Registry,
  source: string,
  draft: DraftDocument & { readonly name: string | undefined },
): string {
  const { name, key } = draft;
  const owns = ({ owner }: Pool): boolean => owner.source === source;
  if (name !== undefined) {
    const pool = registry.poolNamed(name);
    const claimed = registry.parsedDocuments.named(name).find((parsed) => parsed.source === source);
    return (pool && owns(pool) ? pool.owner.key : claimed?.key) ?? (source === API_SOURCE ? name : key);
  }
  const pools = Iterator.from(registry.deps.store.view.pools.by('source', source));
  return pools.find(({ owner }) => stemOf(owner.key) === stemOf(key))?.owner.key ?? key;
}

/** A pool whose document is refused is listed there; it does not count as unchanged too. */
function tellOnce(planned: ChangePlan): ChangePlan {
  const refused = new Set(planned.refused.map(({ pool }) => pool));
  return { ...planned, unchanged: planned.unchanged.filter((name) => !refused.has(name)) };
}

export function openForesight(registry: Registry): Foresight {
  const { deps, parsedDocuments, runners } = registry;

  function namesOf(source: string, said: ReadonlyMap<string, ParsedDocument>): Set<string> {
    const owned = [...deps.store.view.pools.by('source', source)].map(({ name }) => name);
    const defined = [...parsedDocuments.of(source).values(), ...said.values()].flatMap(({ spec }) => spec?.name ?? []);
    return new Set([...owned, ...defined]);
  }

  return {
    async foresee(drafts, source) {
      if (source !== undefined) rulesOf(registry, source);
      const said = new Map<string, Map<string, ParsedDocument>>();
      if (source !== undefined) said.set(source, new Map());
      const names = new Set<string>();
      const draftKeys = new Map<string, string>();
      async function take(draft: DraftDocument): Promise<void> {
        const name = nameIn(draft.text);
        const owner = source ?? sourceOf(registry, name);
        const { spec, fault } = await readPoolDocument(deps.readPool, rulesOf(registry, owner), draft.text);
        const those = said.get(owner) ?? new Map(parsedDocuments.of(owner));
        said.set(owner, those);
        const meant = keyOf(registry, owner, { ...draft, name: spec?.name ?? name });
        // A second draft of one pool keeps its own key, and is refused as the second.
        const isTaken = names.has(spec?.name ?? '') || (source !== undefined && those.has(meant));
        const key = isTaken ? draft.key : meant;
        those.set(key, { source: owner, key, version: NEW_VERSION, spec, fault });
        draftKeys.set(documentId(owner, key), draft.key);
        if (spec) names.add(spec.name);
      }
      const slices = openSlices(deps.clock);
      for (const draft of drafts) {
        await take(draft);
        if (slices.isOver()) await slices.next();
      }
      const whole = source === undefined ? undefined : said.get(source);
      const planned = plannedChanges(registry, said, {
        names: whole && source !== undefined ? namesOf(source, whole) : names,
      });
      // Documents that lie in the sources already are not part of the question.
      const refused = planned.refused.flatMap((refusal) => {
        const key = draftKeys.get(documentId(refusal.source, refusal.key));
        return key === undefined ? [] : [{ ...refusal, key }];
      });
      return tellOnce({ ...planned, refused });
    },
    async foreseeSync(source, signal) {
      const runner = runners.get(source);
      if (source === API_SOURCE) {
        const remedy = 'Plan files, or a source in the configuration.';
        throw new Fault('invalid', 'Pools of the API have no source to read: they are already in force.', {
          remedy,
        });
      }
      if (!runner) throw missingSource(source);
      const { byKey: listed } = await listDocuments(registry, runner, signal);
      const changed = await readChanged(registry, { ...runner, log: silentLog }, listed);
      const gone = deletedIn(listed);
      const known = parsedDocuments.of(source);
      const said = new Map(
        [...listed.keys()].flatMap((key) => {
          const parsed = gone.has(key) ? undefined : known.get(key);
          return parsed ? [[key, parsed] as const] : [];
        }),
      );
      for (const parsed of changed) said.set(parsed.key, parsed);
      const deleted = new Map([[source, gone]]);
      return tellOnce(plannedChanges(registry, new Map([[source, said]]), { names: namesOf(source, said), deleted }));
    },
  };
}

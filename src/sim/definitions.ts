// What someone wants the pools to be, held by two simulated sources; it changes while the world runs.
import { Fault } from '#core/fault.ts';
import type { Document, Source } from '#core/provider.ts';
import type { OpenedSource } from '#pools/pools.ts';
import type { Chance } from './chance.ts';
import type { FaultDraws } from './faults.ts';

export interface Definition {
  readonly name: string;
  readonly regions: readonly string[];
  readonly size: string;
  readonly slots: number;
  readonly minAgents: number;
  readonly maxAgents: number;
  readonly minIdle: number;
  readonly maxIdle: number;
  readonly idleDecayS: number;
  readonly bootTimeoutS: number;
  readonly drainTimeoutS: number;
  /** How many idle machines it stops and keeps. */
  readonly parks?: number;
  /** What becomes of workers of an older definition. */
  readonly updates?: 'rolling';
  /** In dollars, for a machine of any of its regions. */
  readonly pricePerHour?: number;
}

/** As a user would write it. */
export function textOf(definition: Definition): string {
  const { name, regions, size, parks, updates, pricePerHour } = definition;
  const price = pricePerHour === undefined ? {} : { price_per_hour: pricePerHour };
  const backends = regions.map((region) => ({ sim_cloud: { region, size, ...(parks && { parks }) }, ...price }));
  return JSON.stringify({
    name,
    boot_timeout: `${definition.bootTimeoutS}s`,
    drain_timeout: `${definition.drainTimeoutS}s`,
    ...(updates && { update_policy: updates }),
    auto_scaler: {
      backends,
      min_agents: definition.minAgents,
      max_agents: definition.maxAgents,
      min_idle_agents: definition.minIdle,
      max_idle_agents: definition.maxIdle,
      idle_decay: `${definition.idleDecayS}s`,
      default_slots_per_agent: definition.slots,
      scale_up_error_retry_delay: '30s',
    },
  });
}

export function someDefinition(name: string, regions: readonly string[], chance: Chance): Definition {
  const slots = chance.pick([1, 1, 2, 4]);
  const minIdle = chance.pick([0, 0, 1, 2]);
  const [first, second] = [chance.pick(regions), chance.pick(regions)];
  return {
    name,
    regions: first !== second && chance.happens(0.3) ? [first, second] : [first],
    size: chance.pick(['small', 'large']),
    slots,
    minAgents: chance.pick([0, 0, 0, 1]),
    maxAgents: chance.whole(3, 12),
    minIdle,
    maxIdle: minIdle + chance.pick([0, 1, 2, 4]) * slots,
    idleDecayS: chance.pick([60, 300, 900]),
    bootTimeoutS: chance.pick([180, 300, 600]),
    drainTimeoutS: chance.pick([300, 1_800]),
  };
}

interface Entry {
  readonly definition: Definition;
  source: string;
  /** As its writer sees it. */
  unchanged: Document;
  text: string;
  isThere: boolean;
}

export interface Definitions {
  /** All that were ever defined, by name. */
  names(): readonly string[];
  get(name: string): Definition | undefined;
  /** Writes a document; a text of its own may be nonsense. */
  write(definition: Definition, text?: string): void;
  remove(name: string): void;
  /** Moves the document to the other source. */
  move(name: string): void;
  /** Brings back all that was removed or spoilt. */
  restore(): void;
  /** The sources for one life of the server; a dead one never hears an answer. */
  open(isAlive: () => boolean): readonly OpenedSource[];
}

export interface DefinitionsOptions {
  readonly chance: Chance;
  readonly draws: FaultDraws;
}

const SOURCES = { files: 45_000, terraform: 90_000 } as const;
const IDS = Object.keys(SOURCES);
const other = (source: string): string => IDS.find((id) => id !== source) ?? source;

export function openDefinitions({ chance, draws }: DefinitionsOptions): Definitions {
  const entries = new Map<string, Entry>();
  // Two listings in a row that lack a document mean that it is gone, so chance lets only one of them lie.
  const hasLied = new Set<string>();
  const names: string[] = [];
  let versions = 0;
  // The last list of each source, and the version then: every change makes a new one.
  const lastLists = new Map<string, { readonly versions: number; readonly documents: readonly Document[] }>();

  async function documents(source: string, held: ReadonlyMap<string, string>): Promise<readonly Document[]> {
    if (draws.strikes('source-failure', chance)) {
      if (hasLied.has(source) || chance.happens(0.5)) throw new Fault('unavailable', 'The bucket does not answer.');
      hasLied.add(source);
      const whole = list(source, held);
      const missing = chance.whole(0, Math.max(0, whole.length - 1));
      return whole.filter((_, at) => at !== missing);
    }
    hasLied.delete(source);
    return list(source, held);
  }

  const isHeld = (document: Document, held: ReadonlyMap<string, string>): boolean =>
    held.get(document.key) === document.version;

  function list(source: string, held: ReadonlyMap<string, string>): readonly Document[] {
    const before = lastLists.get(source);
    if (before?.versions === versions && before.documents.every((document) => isHeld(document, held)))
      return before.documents;
    const documents = listAnew(source, held);
    lastLists.set(source, { versions, documents });
    return documents;
  }

  function listAnew(source: string, held: ReadonlyMap<string, string>): Document[] {
    const found: Document[] = [];
    for (const entry of entries.values()) {
      if (!entry.isThere || entry.source !== source) continue;
      const { unchanged, text } = entry;
      found.push(isHeld(unchanged, held) ? unchanged : { ...unchanged, text });
    }
    return found;
  }

  const nextVersion = (key: string): Document => ({ key, version: String(++versions) });

  function change(name: string, make: (entry: Entry) => void): void {
    const entry = entries.get(name);
    if (!entry) return;
    make(entry);
    entry.unchanged = nextVersion(name);
  }

  return {
    names: () => names,
    get: (name) => entries.get(name)?.definition,
    write(definition, text = textOf(definition)) {
      const { name } = definition;
      const source = entries.get(name)?.source ?? IDS[entries.size % IDS.length] ?? '';
      if (!entries.has(name)) names.push(name);
      entries.set(name, { definition, source, unchanged: nextVersion(name), text, isThere: true });
    },
    remove: (name) =>
      change(name, (entry) => {
        entry.isThere = false;
      }),
    move: (name) =>
      change(name, (entry) => {
        entry.source = other(entry.source);
      }),
    restore() {
      for (const [name, { definition }] of entries) {
        change(name, (entry) => {
          entry.isThere = true;
          entry.text = textOf(definition);
        });
      }
    },
    open(isAlive) {
      return Object.entries(SOURCES).map(([id, everyMs]): OpenedSource => {
        const source: Source = {
          documents: (held) =>
            new Promise((resolve, reject) => {
              documents(id, held).then(
                (found) => isAlive() && resolve(found),
                (thrown) => isAlive() && reject(thrown),
              );
            }),
        };
        return { id, kind: 'sim', source, everyMs, trust: 'foreign' };
      });
    },
  };
}

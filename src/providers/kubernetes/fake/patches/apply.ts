// Server-side apply: the applied fields are set and owned; what the same manager applied before and no longer does, goes.
import type { Resource } from '../api/resource.ts';
import { apiVersionOf } from '../api/resource.ts';
import { type Fields, fieldsOf, isFields, isSame, type KubeObject, listOf, OWNER_KEY } from '../objects/object.ts';
import { refuse } from '../wire/status.ts';
import { type FieldSet, itemStep, leavesOf, shownPath, stepsOf } from './field-set.ts';
import { isOwnedBy, type Ownership, ownershipOf, type Writer, withOwner, without } from './ownership.ts';

type Rule = Resource['listRule'];

function mergeLists(live: unknown, applied: readonly unknown[], rule: Rule, path: readonly string[]): unknown {
  const how = rule(path);
  if (how === undefined) return applied;
  if (how === 'set') return [...new Set([...listOf(live), ...applied])];
  const made = [...listOf(live)];
  for (const item of applied) {
    const step = itemStep(item, how.keys);
    const at = made.findIndex((one) => itemStep(one, how.keys) === step);
    if (at < 0) made.push(item);
    else made[at] = merged(made[at], item, rule, path);
  }
  return made;
}

function merged(live: unknown, applied: unknown, rule: Rule, path: readonly string[]): unknown {
  if (Array.isArray(applied)) return mergeLists(live, applied, rule, path);
  if (!isFields(applied)) return applied;
  const made: Record<string, unknown> = { ...fieldsOf(live) };
  for (const [key, value] of Object.entries(applied)) {
    if (value === null) delete made[key];
    else made[key] = merged(made[key], value, rule, [...path, key]);
  }
  return made;
}

const isItem = (step: string, item: unknown): boolean => {
  if (step.startsWith('v:')) return isSame(item, JSON.parse(step.slice(2)));
  const keys = Object.entries(JSON.parse(step.slice(2)) as Fields);
  return keys.every(([key, value]) => isSame(fieldsOf(item)[key], value));
};

/** The value without the field at these steps; a map that becomes empty goes too. */
function removed(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined || step === '.') return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item) => (isItem(step, item) ? removed(item, rest) : item));
    return items.filter((item) => item !== undefined);
  }
  const key = step.slice(2);
  if (!isFields(value) || !Object.hasOwn(value, key)) return value;
  const { [key]: below, ...others } = value;
  const left = removed(below, rest);
  const made = left === undefined ? others : { ...others, [key]: left };
  return Object.keys(made).length === 0 ? undefined : made;
}

function conflictOf(found: readonly { owner: Ownership; path: string }[]): Error {
  const causes = found.map(({ owner: { entry }, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with "${entry[OWNER_KEY]}"${entry.subresource ? ` with subresource "${entry.subresource}"` : ''} using ${entry.apiVersion}`,
    field: shownPath(path),
  }));
  const count = `${causes.length} conflict${causes.length === 1 ? '' : 's'}`;
  const [one] = causes;
  const text =
    causes.length === 1
      ? `${one?.message}: ${one?.field}`
      : causes.map(({ message, field }) => `${message}:\n- ${field}`).join('\n');
  return refuse('Conflict', `Apply failed with ${count}: ${text}`, { details: { causes } });
}

/** What others own and the applied object sets to something else. */
function conflictsWith(
  others: readonly Ownership[],
  live: Fields,
  applied: Map<string, unknown>,
  resource: Resource,
  writer: Writer,
) {
  const now = leavesOf(live, resource, writer.subresource);
  const differing = [...applied].filter(([path, value]) => !isSame(now.get(path), value)).map(([path]) => path);
  return others.flatMap((owner) => differing.filter((path) => owner.set.has(path)).map((path) => ({ owner, path })));
}

function dropUnapplied(object: unknown, gone: FieldSet): unknown {
  // Items last: their fields may go with them.
  return [...gone].reduce((left, path) => removed(left, stepsOf(path)) ?? {}, object);
}

export interface ApplyOptions {
  readonly resource: Resource;
  readonly writer: Writer;
  readonly isForced: boolean;
}

/** Throws where another manager owns a field with another value, unless that is overridden. */
export function applyConfiguration(live: KubeObject | undefined, config: Fields, options: ApplyOptions): KubeObject {
  const { resource, writer, isForced } = options;
  const base: Fields = live ?? { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: {} };
  const applied = leavesOf(config, resource, writer.subresource);
  const all = live ? ownershipOf(live) : [];
  const mine = all.find((one) => isOwnedBy(one, writer));
  const others = all.filter((one) => one !== mine);
  const found = conflictsWith(others, base, applied, resource, writer);
  if (found.length > 0 && !isForced) throw conflictOf(found);
  const taken = new Set(found.map(({ path }) => path));
  const left = others.map(({ entry, set }) => ({ entry, set: without(set, taken) }));
  const ownedElsewhere = new Set(left.flatMap(({ set }) => [...set]));
  const own = new Set(applied.keys());
  const gone = without(without(mine?.set ?? new Set(), own), ownedElsewhere);
  const kept = dropUnapplied(base, gone);
  const made = merged(kept, config, resource.listRule, []) as KubeObject;
  return withOwner(made, resource, left, writer, own);
}

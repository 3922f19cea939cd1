import { Fault } from '#core/fault.ts';
import type { RenderBudget } from '../limits.ts';
import { GoMap, GoSlice, mapOf, typeName, type Value } from '../value/value.ts';
import { type Functions, fn, variadic } from './function.ts';
import { mergeInto } from './merge.ts';
import { stringOf, stringSlice } from './text.ts';

function writable(map: GoMap): GoMap {
  if (map.isNil) throw new Fault('invalid', 'assignment to entry in nil map');
  return map;
}

function dict(values: readonly Value[], budget: RenderBudget): GoMap {
  const map = mapOf([]);
  for (let n = 0; n < values.length; n += 2) {
    map.entries.set(stringOf(values[n], budget), n + 1 < values.length ? values[n + 1] : '');
  }
  return map;
}

const notA = (value: Value, type: string): Fault => {
  const got = value === null || value === undefined ? 'nil' : typeName(value);
  return new Fault('invalid', `interface conversion: interface {} is ${got}, not ${type}`);
};

function asMap(value: Value): GoMap {
  if (value instanceof GoMap && value.element === 'interface {}') return value;
  throw notA(value, 'map[string]interface {}');
}

function dig(values: readonly Value[]): Value {
  if (values.length < 3) throw new Fault('invalid', 'dig needs at least three arguments');
  const path = values.slice(0, -2).map((key) => {
    if (typeof key !== 'string') throw notA(key, 'string');
    return key;
  });
  let found: Value = asMap(values.at(-1));
  for (const key of path) {
    const map = asMap(found);
    if (!map.entries.has(key)) return values.at(-2);
    found = map.entries.get(key);
  }
  return found;
}

function deepCopy(value: Value, budget: RenderBudget): Value {
  budget.step();
  if (value instanceof GoSlice) {
    return new GoSlice(
      value.items.map((item) => deepCopy(item, budget)),
      value.element,
      value.isNil,
    );
  }
  if (!(value instanceof GoMap)) return value;
  const entries = new Map<string, Value>();
  for (const [key, item] of value.entries) entries.set(key, deepCopy(item, budget));
  return new GoMap(entries, value.element, value.isNil);
}

const copy = fn(['any'], (value, { budget }) => {
  if (value === null) throw new Fault('invalid', 'reflect: call of reflect.Value.Type on zero Value');
  return deepCopy(value, budget);
});

const merging = (overwrites: boolean) =>
  variadic(['map'], 'map', (target, sources, { budget }) => {
    const merged = target.isNil ? mapOf([]) : target;
    for (const source of sources) mergeInto(merged, source, overwrites, budget);
    return merged;
  });

/** Sprig's functions for maps; keys and values come in the order of the keys, where Go's order is random. */
export const dictFunctions: Functions = {
  dict: variadic([], 'any', (values, { budget }) => dict(values, budget)),
  get: fn(['map', 'string'], (map, key) => (map.entries.has(key) ? map.entries.get(key) : '')),
  set: fn(['map', 'string', 'any'], (map, key, value) => {
    writable(map).entries.set(key, value);
    return map;
  }),
  unset: fn(['map', 'string'], (map, key) => {
    if (map.entries.delete(key)) map.changed();
    return map;
  }),
  hasKey: fn(['map', 'string'], (map, key) => map.entries.has(key)),
  pluck: variadic(['string'], 'map', (key, maps) => {
    return new GoSlice(maps.filter((map) => map.entries.has(key)).map((map) => map.entries.get(key)));
  }),
  keys: variadic([], 'map', (maps, { budget }) => {
    return stringSlice(
      maps.flatMap((map) => {
        budget.step(map.entries.size);
        return map.sortedKeys();
      }),
    );
  }),
  values: fn(['map'], (map, { budget }) => {
    budget.step(map.entries.size);
    return new GoSlice(map.sortedKeys().map((key) => map.entries.get(key)));
  }),
  pick: variadic(['map'], 'string', (map, keys) => {
    return mapOf(keys.filter((key) => map.entries.has(key)).map((key) => [key, map.entries.get(key)]));
  }),
  omit: variadic(['map'], 'string', (map, keys, { budget }) => {
    budget.step(map.entries.size);
    return mapOf([...map.entries].filter(([key]) => !keys.includes(key)));
  }),
  dig: variadic([], 'any', dig),
  merge: merging(false),
  mustMerge: merging(false),
  mergeOverwrite: merging(true),
  mustMergeOverwrite: merging(true),
  deepCopy: copy,
  mustDeepCopy: copy,
};

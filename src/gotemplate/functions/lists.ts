import { Fault } from '#core/fault.ts';
import type { RenderBudget } from '../limits.ts';
import { deepEqual } from '../value/equality.ts';
import { GoSlice, isTrue, kindName, type Value } from '../value/value.ts';
import { toInteger } from './cast.ts';
import { type Functions, fn, type GoFunction, type TemplateRun, variadic } from './function.ts';

/** The items of a list, or what Sprig says of a value that is none. */
function itemsOf(list: Value, verb: string, budget: RenderBudget): readonly Value[] {
  if (list instanceof GoSlice) {
    budget.step(list.items.length);
    return list.items;
  }
  if (list === null || list === undefined) throw nilPointer();
  throw new Fault('invalid', `Cannot ${verb} ${kindName(list)}`);
}

export const nilPointer = (): Fault =>
  new Fault('invalid', 'runtime error: invalid memory address or nil pointer dereference');

const nilSlice = (): GoSlice => new GoSlice([], 'interface {}', true);

/** Every function of lists has a twin whose name begins with `must`: in Sprig one panics, the other gives an error. */
function twins(name: string, definition: GoFunction): Functions {
  return { [name]: definition, [`must${name[0]?.toUpperCase()}${name.slice(1)}`]: definition };
}

const ofList = (verb: string, give: (items: readonly Value[], run: TemplateRun) => Value): GoFunction =>
  fn(['any'], (list, run) => give(itemsOf(list, verb, run.budget), run));

/** By the arithmetic of Sprig, which gives lists for some negative sizes. */
function chunk(size: number, items: readonly Value[]): GoSlice {
  const { length } = items;
  const count = Math.floor((length - 1) / size) + 1;
  // Go makes the least integer of an infinite count.
  const isCountable = count >= 0 && Number.isFinite(count);
  const last = Math.floor(length % size) || size;
  const lengths = Array.from({ length: isCountable ? count : 0 }, (_, n) => (n === count - 1 ? last : size));
  if (!isCountable || lengths.some((one) => one < 0)) {
    throw new Fault('invalid', 'runtime error: makeslice: len out of range');
  }
  const chunks = lengths.map((one, n) => new GoSlice(items.slice(n * size, n * size + one)));
  return new GoSlice(chunks, '[]interface {}');
}

function isIn(items: readonly Value[], needle: Value, budget: RenderBudget): boolean {
  budget.step(items.length);
  return items.some((item) => deepEqual(item, needle, budget));
}

function uniq(items: readonly Value[], { budget }: TemplateRun): GoSlice {
  const kept: Value[] = [];
  for (const item of items) if (!isIn(kept, item, budget)) kept.push(item);
  return new GoSlice(kept);
}

function sliceOf(list: GoSlice, indices: readonly Value[]): Value {
  const { length } = list.items;
  if (length === 0) return null;
  const from = Number(indices.length > 0 ? toInteger(indices[0]) : 0n);
  const to = Number(indices.length > 1 ? toInteger(indices[1]) : BigInt(length));
  if (from < 0 || from > to || to > length)
    throw new Fault('invalid', 'reflect.Value.Slice: slice index out of bounds');
  return new GoSlice(list.items.slice(from, to), list.element);
}

const slice = variadic(['any'], 'any', (list, indices) => {
  if (list instanceof GoSlice) return sliceOf(list, indices);
  if (list === null) throw nilPointer();
  throw new Fault('invalid', `list should be type of slice or array but ${kindName(list)}`);
});

const push = fn(
  ['any', 'any'],
  (list, item, { budget }) => new GoSlice([...itemsOf(list, 'push on type', budget), item]),
);

const list = variadic([], 'any', (values) => new GoSlice(values));

function concat(lists: readonly Value[], budget: RenderBudget): GoSlice {
  const items = lists.flatMap((one) => {
    if (one instanceof GoSlice) {
      budget.step(one.items.length);
      return one.items;
    }
    if (one === null || one === undefined) throw nilPointer();
    throw new Fault('invalid', `Cannot concat type ${kindName(one)} as list`);
  });
  return new GoSlice(items, 'interface {}', items.length === 0);
}

/** Sprig's functions for lists. */
export const listFunctions: Functions = {
  list,
  tuple: list,
  ...twins('append', push),
  ...twins('push', push),
  ...twins(
    'prepend',
    fn(['any', 'any'], (items, item, { budget }) => new GoSlice([item, ...itemsOf(items, 'prepend on type', budget)])),
  ),
  ...twins(
    'first',
    ofList('find first on type', (items) => items[0] ?? null),
  ),
  ...twins(
    'last',
    ofList('find last on type', (items) => items.at(-1) ?? null),
  ),
  ...twins(
    'rest',
    ofList('find rest on type', (items) => (items.length === 0 ? nilSlice() : new GoSlice(items.slice(1)))),
  ),
  ...twins(
    'initial',
    ofList('find initial on type', (items) => (items.length === 0 ? nilSlice() : new GoSlice(items.slice(0, -1)))),
  ),
  ...twins(
    'reverse',
    ofList('find reverse on type', (items) => new GoSlice(items.toReversed())),
  ),
  ...twins(
    'compact',
    ofList('compact on type', (items) => new GoSlice(items.filter(isTrue))),
  ),
  ...twins('uniq', ofList('find uniq on type', uniq)),
  ...twins(
    'without',
    variadic(['any'], 'any', (items, omitted, { budget }) => {
      const all = itemsOf(items, 'find without on type', budget);
      return new GoSlice(all.filter((item) => !isIn(omitted, item, budget)));
    }),
  ),
  ...twins(
    'has',
    fn(['any', 'any'], (needle, items, { budget }) =>
      items === null ? false : isIn(itemsOf(items, 'find has on type', budget), needle, budget),
    ),
  ),
  ...twins('slice', slice),
  ...twins(
    'chunk',
    fn(['int', 'any'], (size, items, { budget }) => chunk(size, itemsOf(items, 'chunk type', budget))),
  ),
  concat: variadic([], 'any', (lists, { budget }) => concat(lists, budget)),
};

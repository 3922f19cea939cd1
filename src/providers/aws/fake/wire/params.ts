/** The parameters of a query call: `Filter.1.Value.2=x` is the text at Filter → 1 → Value → 2. */
export interface Params {
  text: string | undefined;
  readonly under: Map<string, Params>;
}

const NOTHING: Params = { text: undefined, under: new Map() };

const empty = (): Params => ({ text: undefined, under: new Map() });

/** Reads the pairs of a form into a tree. */
export function parseParams(pairs: Iterable<readonly [string, string]>): Params {
  const root = empty();
  for (const [name, value] of pairs) {
    let at = root;
    for (const part of name.split('.')) {
      const next = at.under.get(part) ?? empty();
      at.under.set(part, next);
      at = next;
    }
    at.text = value;
  }
  return root;
}

export type Plain = string | number | boolean | undefined | readonly Plain[] | { readonly [name: string]: Plain };

/** The tree that a form of these values would give; names are those of the wire (`SecurityGroupId`, not `…Ids`). */
export function paramsOf(value: Plain): Params {
  if (value === undefined) return empty();
  if (typeof value !== 'object') return { text: String(value), under: new Map() };
  const entries = Array.isArray(value)
    ? value.map((each, index) => [String(index + 1), each] as const)
    : Object.entries(value);
  const given = entries.filter(([, each]) => each !== undefined);
  return { text: undefined, under: new Map(given.map(([name, each]) => [name, paramsOf(each)])) };
}

/** What stands at a dotted name; an empty tree where nothing does. */
export function at(params: Params, name: string): Params {
  let found: Params | undefined = params;
  for (const part of name.split('.')) found = found?.under.get(part);
  return found ?? NOTHING;
}

export const has = (params: Params, name: string): boolean => at(params, name) !== NOTHING;

export const textAt = (params: Params, name: string): string | undefined => at(params, name).text || undefined;

export const isSet = (params: Params, name: string): boolean => at(params, name).text?.toLowerCase() === 'true';

export function numberAt(params: Params, name: string): number | undefined {
  const text = textAt(params, name);
  return text === undefined ? undefined : Number(text);
}

/** The members of a list, in the order of their numbers. */
export function membersAt(params: Params, name: string): Params[] {
  const { under } = at(params, name);
  return [...under.entries()].toSorted(([a], [b]) => Number(a) - Number(b)).map(([, member]) => member);
}

export function textsAt(params: Params, name: string): string[] {
  return membersAt(params, name).map(({ text }) => text ?? '');
}

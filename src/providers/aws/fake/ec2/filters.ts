import { refusal } from '#fakes/refusal.ts';
import { membersAt, type Params, textAt, textsAt } from '../wire/params.ts';

/** Values of filters may hold `*` and `?`; a backslash takes their meaning away. */
export function matchesPattern(pattern: string, text: string): boolean {
  if (!/[*?\\]/.test(pattern)) return pattern === text;
  const source = pattern.replace(/\\(.)|[*?]|[.+^${}()|[\]\\]/g, (sign, escaped?: string) => {
    if (escaped !== undefined) return escaped.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    if (sign === '*') return '.*';
    return sign === '?' ? '.' : `\\${sign}`;
  });
  return new RegExp(`^${source}$`, 's').test(text);
}

/** What a filter looks at: the values of a thing under that name; undefined where EC2 knows no such filter. */
export type Look<T> = (thing: T, name: string) => readonly (string | undefined)[] | undefined;

interface Filter {
  readonly name: string;
  readonly values: readonly string[];
}

function readFilters(params: Params): Filter[] {
  return membersAt(params, 'Filter').map((member) => {
    const [name, values] = [textAt(member, 'Name') ?? '', textsAt(member, 'Value')];
    if (values.length === 0) {
      throw refusal('InvalidParameterValue', `The filter '${name}' has no values.`);
    }
    return { name, values };
  });
}

const passes = (filter: Filter, held: readonly (string | undefined)[]): boolean =>
  held.some((text) => text !== undefined && filter.values.some((value) => matchesPattern(value, text)));

/** Filters are joined by `and`, the values of one by `or`; an unknown name is refused even where there is nothing to look at. */
export function filterOf<T>(params: Params, look: Look<T>, known: ReadonlySet<string>): (thing: T) => boolean {
  const filters = readFilters(params);
  for (const { name } of filters) {
    if (!name.startsWith('tag:') && !known.has(name)) {
      throw refusal('InvalidParameterValue', `The filter '${name}' is invalid`);
    }
  }
  return (thing) => filters.every((filter) => passes(filter, look(thing, filter.name) ?? []));
}

/** What `tag:KEY`, `tag-key` and `tag-value` look at. */
export function lookAtTags(
  tags: ReadonlyMap<string, string>,
  name: string,
): readonly (string | undefined)[] | undefined {
  if (name.startsWith('tag:')) return [tags.get(name.slice('tag:'.length))];
  if (name === 'tag-key') return [...tags.keys()];
  return name === 'tag-value' ? [...tags.values()] : undefined;
}

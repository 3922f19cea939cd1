/** A type that was chosen, and by which words of the operator. */
export interface ChosenType {
  readonly type: string;
  /** The prefix, where it was read as a generation: `p4.` found `p4d.24xlarge`. */
  readonly generation?: string | undefined;
}

const escaped = (text: string): string => text.replace(/[^a-z0-9]/gi, '\\$&');

/**
 * The types that begin with one of the prefixes. No type begins with `p4.`, though people write it: a prefix that ends
 * in a dot and fits nothing means every type of that generation.
 */
export function chooseTypes(offered: readonly string[], prefixes: readonly string[]): ChosenType[] {
  const types = [...new Set(offered)].toSorted();
  if (prefixes.length === 0) return types.map((type) => ({ type }));
  const chosen = new Map<string, ChosenType>();
  for (const prefix of prefixes) {
    const literal = types.filter((type) => type.startsWith(prefix));
    for (const type of literal) chosen.set(type, { type });
    if (literal.length > 0 || !prefix.endsWith('.')) continue;
    const generation = new RegExp(`^${escaped(prefix.slice(0, -1))}[a-z-][a-z0-9-]*\\.`);
    for (const type of types.filter((one) => generation.test(one)))
      if (!chosen.has(type)) chosen.set(type, { type, generation: prefix });
  }
  return [...chosen.values()].toSorted((a, b) => (a.type < b.type ? -1 : 1));
}

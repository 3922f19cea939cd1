/** A type that was chosen, and by which words of the operator. */
export interface ChosenType {
  readonly type: string;
  /** The prefix, where it is read as a generation: `p4.` found `p4d.24xlarge`. */
  readonly generation?: string | undefined;
}

/** How a prefix that ends in a dot is read: `literal` fits what begins with it, `generation` every type of that generation. */
export type PrefixReading = 'literal' | 'generation';

/** By prefix; without the prefixes that nothing has fitted yet. */
export type PrefixReadings = Readonly<Record<string, PrefixReading>>;

const escaped = (text: string): string => text.replace(/[^a-z0-9]/gi, '\\$&');

const generationOf = (prefix: string): RegExp => new RegExp(`^${escaped(prefix.slice(0, -1))}([a-z-][a-z0-9-]*)?\\.`);

/** What these types say of a prefix: that it fits some literally, or only as a generation, or none. */
function readingBy(types: readonly string[], prefix: string): PrefixReading | undefined {
  if (types.some((type) => type.startsWith(prefix))) return 'literal';
  const generation = generationOf(prefix);
  return types.some((type) => generation.test(type)) ? 'generation' : undefined;
}

const isReading = (kept: string | undefined): kept is PrefixReading => kept === 'literal' || kept === 'generation';

/**
 * How each prefix is read. No type begins with `p4.`, though people write it: a prefix that fits nothing literally means
 * its generation. That is decided by the first types that fit it either way, and stays so while the prefix is
 * configured: when AWS stops offering `p3.`, the prefix must not become `p3dn.`. Where nothing was kept, as by an older
 * version, the types that have pools tell how the prefix was read.
 */
export function readPrefixes(
  offered: readonly string[],
  prefixes: readonly string[],
  before: { readonly decided: Readonly<Record<string, string>>; keys(): Iterable<string> },
): PrefixReadings {
  const readings: Record<string, PrefixReading> = {};
  let known: readonly string[] | undefined;
  for (const prefix of prefixes.filter((one) => one.endsWith('.'))) {
    const kept = Object.hasOwn(before.decided, prefix) ? before.decided[prefix] : undefined;
    known ??= isReading(kept) ? undefined : [...before.keys()];
    const others = prefixes.filter((one) => one !== prefix);
    const own = known?.filter((type) => !others.some((other) => type.startsWith(other)));
    const reading = isReading(kept) ? kept : (readingBy(own ?? [], prefix) ?? readingBy(offered, prefix));
    if (reading) readings[prefix] = reading;
  }
  return readings;
}

/** The types that fit one of the prefixes as these are read; all types where there are none. */
export function chooseTypes(
  offered: readonly string[],
  prefixes: readonly string[],
  readings: PrefixReadings,
): ChosenType[] {
  const types = [...new Set(offered)].toSorted();
  if (prefixes.length === 0) return types.map((type) => ({ type }));
  const chosen = new Map<string, ChosenType>();
  for (const prefix of prefixes) {
    for (const type of types.filter((one) => one.startsWith(prefix))) chosen.set(type, { type });
    if (readings[prefix] !== 'generation') continue;
    const generation = generationOf(prefix);
    for (const type of types.filter((one) => generation.test(one)))
      if (!chosen.has(type)) chosen.set(type, { type, generation: prefix });
  }
  return [...chosen.values()].toSorted((a, b) => (a.type < b.type ? -1 : 1));
}

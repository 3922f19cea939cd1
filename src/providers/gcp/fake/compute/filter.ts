/** What a filter of a listing looks at. */
interface Filtered {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/**
 * `labels.key=value`, `labels.key:value`, `labels.key:*`, `name=value` and `name eq PATTERN`; several are parted by blanks,
 * AND or parentheses.
 */
export function filterOf(filter = ''): (one: Filtered) => boolean {
  const terms = [...filter.matchAll(/(labels\.)?([\w-]+)\s*(?:=|:|(eq))\s*"?([^\s")]*)"?/g)];
  return (one) =>
    terms.every(([, isLabel, key = '', isPattern, value = '']) => {
      const found = isLabel ? one.labels?.[key] : (one as unknown as Readonly<Record<string, unknown>>)[key];
      if (isPattern) return new RegExp(`^(?:${value})$`).test(String(found));
      return isLabel && value === '*' ? found !== undefined : found === value;
    });
}

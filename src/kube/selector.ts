/** What a label must be: that value, one of several, or simply present. */
export type LabelDemand = string | readonly string[] | true;

/** Labels as a selector: `app=velda-agent,pool in (a,b),gpu`. The same labels always give the same text. */
export function selectorOf(labels: Readonly<Record<string, LabelDemand | undefined>>): string {
  return Object.keys(labels)
    .toSorted()
    .flatMap((name) => {
      const wanted = labels[name];
      if (wanted === undefined) return [];
      if (wanted === true) return [name];
      return typeof wanted === 'string' ? [`${name}=${wanted}`] : [`${name} in (${wanted.toSorted().join(',')})`];
    })
    .join(',');
}

import type { SourceConfig } from '../config.ts';

/** A source without a name is known by its cluster and namespace. */
export function placeOf({ namespace, cluster, context, ...kinds }: SourceConfig): string {
  const named = cluster ?? context ?? Object.entries(kinds).map(placeOfKind).join(' ');
  return [named, namespace || '*'].filter(Boolean).join('/');
}

const placeOfKind = ([kind, config]: [string, unknown]): string =>
  [kind, ...Object.values(config ?? {}).filter((value) => typeof value === 'string')].join(':');

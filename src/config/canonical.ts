import { hash } from 'node:crypto';

/** JSON with the keys of every map in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** A short name for equal content: 12 hexadecimal digits. */
export function shortHash(...parts: readonly string[]): string {
  return hash('sha256', parts.join('\n')).slice(0, 12);
}

// Objects of a cluster are foreign text: whatever is not as expected reads as absent.
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};

export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** Undefined where it is no time. */
export function timeOf(value: unknown): number | undefined {
  const at = Date.parse(textOf(value));
  return Number.isNaN(at) ? undefined : at;
}

/** The texts of a map: labels, annotations. */
export const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(recordOf(value)).map(([key, text]) => [key, textOf(text)]));

// Objects of a cluster are foreign text: whatever is not as expected reads as absent.
export const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};

export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** Undefined where it is no time. */
export function asTime(value: unknown): number | undefined {
  const at = Date.parse(asText(value));
  return Number.isNaN(at) ? undefined : at;
}

/** The texts of a map: labels, annotations. */
export const asTexts = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(asRecord(value)).map(([key, text]) => [key, asText(text)]));

/** Whether two pieces of plain data are equal; a key that is undefined counts as absent, as it does once stored. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, at) => isSame(item, b[at]));
  }
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(left)) {
    if (!isSame(left[key], right[key])) return false;
  }
  for (const key of Object.keys(right)) {
    if (right[key] !== undefined && left[key] === undefined) return false;
  }
  return true;
}

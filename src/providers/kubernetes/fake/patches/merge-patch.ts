// JSON merge patch, RFC 7386.
import { fieldsOf, isFields } from '../objects/object.ts';

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const made: Record<string, unknown> = { ...fieldsOf(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete made[key];
    else made[key] = mergePatch(made[key], value);
  }
  return made;
}

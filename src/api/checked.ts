import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import { joinPath } from '../config/keys.ts';

type Issue = z.core.$ZodIssue;

const MOST_SHOWN = 10;

/** Of the members of a union, the one that came closest: it got furthest before it failed. */
function closest(errors: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]): number => Math.max(0, ...issues.map((issue) => issue.path.length));
  // A wrong type at the top means that this member was not intended.
  const isMeant = (issues: readonly Issue[]): boolean =>
    !issues.some((issue) => issue.path.length === 0 && issue.code === 'invalid_type');
  const ranked = errors.toSorted(
    (a, b) => Number(isMeant(b)) - Number(isMeant(a)) || depth(b) - depth(a) || a.length - b.length,
  );
  return ranked[0] ?? [];
}

/** Every issue with its whole path; those inside a union are unfolded. */
function* unfolded(issues: readonly Issue[], above: readonly PropertyKey[]): Iterable<Found> {
  for (const issue of issues) {
    const path = [...above, ...issue.path];
    if (issue.code === 'invalid_union' && issue.errors.length > 0) yield* unfolded(closest(issue.errors), path);
    else if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) yield { path: [...path, key], text: 'Unknown key.' };
    } else if (issue.code === 'invalid_key') {
      // The rule that the key breaks is in the issue below.
      yield { path, text: issue.issues[0]?.message ?? issue.message };
    } else yield { path, text: issue.message };
  }
}

/** Worded only where it is shown: a body may have thousands. */
interface Found {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) text = joinPath(text, typeof key === 'number' ? key : String(key));
  return text;
}

function knownKeys(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => knownKeys(option as z.ZodType));
  return schema instanceof z.ZodArray ? knownKeys(schema.element as z.ZodType) : [];
}

/** A value of that schema, or a `Fault` that names every wrong place; `where` is `body`, `query` or `path`. */
export function checked<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const found = [...unfolded(result.error.issues, [where])];
  const known = knownKeys(schema);
  const lines = found.slice(0, MOST_SHOWN).map(({ path, text }) => {
    const meant = text === 'Unknown key.' ? nearest(String(path.at(-1)), known) : undefined;
    return `${pathText(path)}: ${text}${meant ? ` Did you mean ${meant}?` : ''}`;
  });
  if (found.length > MOST_SHOWN) lines.push(`… and ${found.length - MOST_SHOWN} more`);
  throw new Fault('invalid', lines.join('\n'), { at: found[0] ? pathText(found[0].path) : where });
}

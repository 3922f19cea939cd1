import { z } from 'zod';
import type { SchemaNotes } from '#core/schema.ts';

export type Schema = z.core.$ZodType;
type Def = z.core.$ZodTypes['_zod']['def'];

/** A schema without its wrappers (optional, default, transform, lazy …), and all that their `.meta()` said. */
export interface Unwrapped {
  readonly schema: Schema;
  readonly def: Def;
  readonly notes: SchemaNotes & { readonly description?: string | undefined };
}

export const defOf = (schema: Schema): Def => schema._zod.def as Def;

const unwrappedBefore = new WeakMap<Schema, Unwrapped>();

/** Worked out once for each schema: every value of every document asks for it. */
export function unwrap(schema: Schema): Unwrapped {
  const known = unwrappedBefore.get(schema);
  if (known) return known;
  const unwrapped = unwrapAnew(schema);
  unwrappedBefore.set(schema, unwrapped);
  return unwrapped;
}

function unwrapAnew(schema: Schema): Unwrapped {
  let inner = schema;
  let notes: Unwrapped['notes'] = {};
  for (;;) {
    // The outermost description counts: a wrapper may describe a shared schema again.
    notes = { ...z.globalRegistry.get(inner), ...notes };
    const next = innerOf(defOf(inner));
    if (!next) return { schema: inner, def: defOf(inner), notes };
    inner = next;
  }
}

function innerOf(def: Def): Schema | undefined {
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return def.innerType;
    case 'lazy':
      return def.getter();
    case 'pipe':
      // z.preprocess begins with a transform that takes anything; what users write is described behind it.
      return defOf(def.in).type === 'transform' ? def.out : def.in;
    default:
      return undefined;
  }
}

/** The keys of an object, also of one made by intersection; undefined where the schema is no object. */
export function objectFieldsOf({ def }: Unwrapped): Readonly<Record<string, Schema>> | undefined {
  if (def.type === 'object') return def.shape;
  if (def.type !== 'intersection') return undefined;
  const [left, right] = [objectFieldsOf(unwrap(def.left)), objectFieldsOf(unwrap(def.right))];
  return left && right && { ...left, ...right };
}

/** What the keys beside the known ones must be; undefined where there may be none. */
export function catchallOf({ def }: Unwrapped): Schema | undefined {
  if (def.type !== 'object' || !def.catchall) return undefined;
  return defOf(def.catchall).type === 'never' ? undefined : def.catchall;
}

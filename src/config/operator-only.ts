import type { z } from 'zod';
import { toSnake } from './keys.ts';
import { objectFieldsOf, unwrap } from './schema-walk.ts';

/** A kind's schema for foreign documents: it refuses keys that only the operator may set, at any depth. */
export function withoutOperatorKeys(config: z.ZodType): z.ZodType {
  const paths = operatorPaths(config);
  if (paths.length === 0) return config;
  return config.superRefine((value, context) => {
    for (const path of paths.filter((keys) => valueAt(value, keys) !== undefined)) {
      const key = toSnake(path.at(-1) ?? '');
      const message = `${key} may be set only in the operator's own file: it decides where credentials are sent`;
      context.addIssue({ code: 'custom', path, message });
    }
  });
}

function operatorPaths(schema: z.core.$ZodType, above: string[] = []): string[][] {
  const unwrapped = unwrap(schema);
  if (unwrapped.notes.operatorOnly) return [above];
  return Object.entries(objectFieldsOf(unwrapped) ?? {}).flatMap(([key, inner]) =>
    operatorPaths(inner, [...above, key]),
  );
}

function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined || typeof value !== 'object' || value === null) return value;
  return valueAt((value as Readonly<Record<string, unknown>>)[key], rest);
}

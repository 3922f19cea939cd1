import type { z } from 'zod';
import { toSnake } from './keys.ts';
import { objectFieldsOf, unwrap } from './schema-walk.ts';

/** A kind's schema for foreign documents: it refuses keys that only the operator may set, at any depth. */
export function withoutOperatorKeys(config: z.ZodType): z.ZodType {
  const keys = operatorKeys(config);
  if (keys.length === 0) return config;
  return config.superRefine((value, context) => {
    for (const { path, why } of keys.filter((key) => valueAt(value, key.path) !== undefined)) {
      const message = `${toSnake(path.at(-1) ?? '')} may be set only in the operator's own file: ${why}`;
      context.addIssue({ code: 'custom', path, message });
    }
  });
}

interface OperatorKey {
  readonly path: string[];
  readonly why: string;
}

const OF_ADDRESSES = 'it decides where credentials are sent';

function operatorKeys(schema: z.core.$ZodType, above: string[] = []): OperatorKey[] {
  const unwrapped = unwrap(schema);
  const { operatorOnly } = unwrapped.notes;
  if (operatorOnly) return [{ path: above, why: typeof operatorOnly === 'string' ? operatorOnly : OF_ADDRESSES }];
  return Object.entries(objectFieldsOf(unwrapped) ?? {}).flatMap(([key, inner]) =>
    operatorKeys(inner, [...above, key]),
  );
}

function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined || typeof value !== 'object' || value === null) return value;
  return valueAt((value as Readonly<Record<string, unknown>>)[key], rest);
}

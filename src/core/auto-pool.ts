// The auto kinds of the clouds make a pool for each type that a cloud offers, as documents that people could have written.
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Document } from './provider.ts';
import { scalerFields } from './scaler-config.ts';
import { DURATION_PATTERN } from './schema.ts';

type Fields = Readonly<Record<string, z.ZodType>>;
type Settings = Readonly<Record<string, unknown>>;

const DEFAULTS: Settings = { maxAgents: 10, minAgents: 0, maxIdleAgents: 1, idleDecay: 60_000 };

type Wrapped = z.ZodDefault<z.ZodType> | z.ZodPrefault<z.ZodType>;

const hasDefault = (field: z.ZodType): field is Wrapped =>
  field instanceof z.ZodDefault || field instanceof z.ZodPrefault;

const bare = (field: z.ZodType): z.ZodType => (hasDefault(field) ? field.unwrap() : field);

/** The fields of `autoscaler_config` of an auto kind: without defaults, so that what is left out hides none below it. */
export const autoscalerFields: Fields = Object.fromEntries(
  Object.entries(scalerFields).map(([key, field]) => [
    key,
    bare(field)
      .optional()
      .describe(field.description ?? ''),
  ]),
);

const inner = (field: z.ZodType): z.ZodType =>
  field instanceof z.ZodOptional ? inner(field.unwrap() as z.ZodType) : hasDefault(field) ? inner(bare(field)) : field;

const isDuration = (field: z.ZodType | undefined): boolean =>
  field !== undefined && inner(field).meta()?.pattern === DURATION_PATTERN;

const given = (settings: Settings = {}): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

/** As a document writes them: there a bare number counts seconds, and inside all durations are milliseconds. */
function written(fields: Fields, settings: Settings): Settings {
  const entries = Object.entries(given(settings));
  return Object.fromEntries(entries.map(([key, value]) => [key, writtenValue(fields[key], value)]));
}

function writtenValue(field: z.ZodType | undefined, value: unknown): unknown {
  if (isDuration(field)) return `${value}ms`;
  const within = field && inner(field);
  return within instanceof z.ZodObject ? written(within.shape as Fields, value as Settings) : value;
}

export interface AutoPool {
  /** What tells the pools of one source apart: the type. */
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** `autoscaler_config` of the source, and of this pool alone, which wins. */
  readonly shared?: Settings | undefined;
  readonly own?: Settings | undefined;
  /** The key of its kind, the fields of its schema, and its parsed configuration. */
  readonly backend: { readonly kind: string; readonly fields: Fields; readonly config: Settings };
}

// 64 bits: enough to tell versions of one document apart, short enough to be shown.
const VERSION_DIGITS = 16;

/** One pool of an auto kind: its own settings over those of the source over 10 workers, 1 idle and 60 s of decay. */
export function autoPool({
  key,
  name,
  description,
  shared,
  own,
  backend,
}: AutoPool): Document & { readonly text: string } {
  const scaling = written(scalerFields, { ...DEFAULTS, ...given(shared), ...given(own) });
  const offer = { [backend.kind]: written(backend.fields, backend.config) };
  const text = JSON.stringify({ name, description, autoScaler: { backend: offer, ...scaling } });
  return { key, version: hash('sha256', text).slice(0, VERSION_DIGITS), text };
}

/** `aws` and `p3.2xlarge` make `aws-p3.2xlarge`; a prefix that brings its own separator is left alone. */
export function poolName(prefix: string, type: string): string {
  return /[\p{L}\p{N}]$/u.test(prefix) ? `${prefix}-${type}` : prefix + type;
}

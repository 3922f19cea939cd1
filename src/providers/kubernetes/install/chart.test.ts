import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DEFAULT_CHOICES } from './choices.ts';
import { chartFile } from './testing.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every key of a tree, as `storage.size`; lists and maps that users fill count as one. */
function keysOf(value: unknown, under = ''): string[] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  return isMap ? Object.entries(value).flatMap(([key, inner]) => keysOf(inner, `${under}.${key}`)) : [under.slice(1)];
}

interface Schema {
  readonly $ref?: string;
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

describe('the Helm chart', () => {
  it('has the version of the program, and so has the image of the plain manifests', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    const { version: own, appVersion } = parse(chartFile('Chart.yaml')) as Record<string, string>;

    expect([own, appVersion]).toEqual([version, version]);
    expect(DEFAULT_CHOICES.image).toBe(`muster/server:${version}`);
  });

  it('has a schema that knows every value, and nothing else but what helm adds', () => {
    const schema = JSON.parse(chartFile('values.schema.json')) as Schema;
    const known = (key: string): boolean => {
      let at: Schema | undefined = schema;
      for (const part of key.split('.')) {
        at = at?.properties?.[part];
        if (at?.$ref !== undefined) at = schema.definitions?.[at.$ref.split('/').at(-1) ?? ''];
        if (at !== undefined && at.properties === undefined) return true;
      }
      return at !== undefined;
    };
    const values = parse(chartFile('values.yaml')) as Record<string, unknown>;

    expect(keysOf(values).filter((key) => !known(key))).toEqual([]);
    expect(Object.keys(schema.properties ?? {}).filter((key) => !(key in values))).toEqual(['global']);
    expect(schema.additionalProperties).toBe(false);
  });
});

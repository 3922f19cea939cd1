import { globSync, readFileSync } from 'node:fs';
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

// As src/api makes them: by `gauge(name, help, labels)`, as a histogram or counter, and one for each source.
const GAUGE = /gauge\('(muster_[a-z_]+)', '[^']*'(?:, \[([^\]]*)\])?/g;
const SERIES = /name: '(muster_[a-z_]+)',\s*help: '[^']*',(?:\s*labelNames: \[([^\]]*)\])?/g;
const OF_SOURCE = /of\('([a-z_]+)'/g;
// What Prometheus adds: buckets of histograms, the pod that was scraped.
const OF_PROMETHEUS = ['le', 'pod'];
const quotedIn = (list: string): string[] => [...list.matchAll(/'([a-z]+)'/g)].map(([, name = '']) => name);

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

  it.each(['files/alerts.yaml', 'files/dashboard.json'])(
    '%s names metrics, labels and reasons that the server has',
    (file) => {
      const api = globSync('src/api/*.ts', { cwd: ROOT }).map(read).join('\n');
      const labelsOf = new Map<string, readonly string[]>([
        ...[...api.matchAll(GAUGE)].map(([, name = '', labels = '']) => [name, quotedIn(labels)] as const),
        ...[...api.matchAll(SERIES)].map(([, name = '', labels = '']) => [name, quotedIn(labels)] as const),
        ...[...api.matchAll(OF_SOURCE)].map(([, name = '']) => [`muster_source_${name}`, ['source']] as const),
      ]);
      const queries = [...chartFile(file).matchAll(/expr"?: (.*)/g)].map(([, query = '']) =>
        query.replaceAll('\\"', '"'),
      );

      const unknown = queries.flatMap((query) => {
        const names = [...query.matchAll(/\bmuster_[a-z_]+/g)].map(([name]) =>
          name.replace(/_(bucket|count|sum)$/, ''),
        );
        const known = new Set([...names.flatMap((name) => labelsOf.get(name) ?? []), ...OF_PROMETHEUS]);
        const grouped = [...query.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
        const matched = [...query.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = '']) => label);
        return [
          ...names.filter((name) => !labelsOf.has(name)),
          ...[...grouped, ...matched].filter((label) => !known.has(label)).map((label) => `${label} of ${names}`),
        ];
      });

      expect(unknown).toEqual([]);
      expect(queries.length).toBeGreaterThan(4);
      const reasons = [...chartFile(file).matchAll(/reason=~"([^"]+)"/g)].flatMap(([, list = '']) => list.split('|'));
      const documented = read('docs/reference/reasons.md');
      expect(reasons.filter((reason) => !documented.includes(`| \`${reason}\` |`))).toEqual([]);
    },
  );
});

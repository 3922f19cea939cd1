// The schemas for editors, in the repository as users get them, against the examples of the documentation.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Fence, fencesIn } from './markdown.ts';
import { ROOT } from './tree.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const compiled = (name: string) => ajv.compile(JSON.parse(read(`docs/reference/${name}.schema.json`)));
const isPool = compiled('pool');
const isServerFile = compiled('muster');

const SERVER_KEYS = [
  'agent_pools',
  'provisioners',
  'clusters',
  'runtimes',
  'server',
  'store',
  'access',
  'agent',
  'retention',
];

const examples: readonly Fence[] = [
  ...readdirSync(join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`),
  ...readdirSync(join(ROOT, 'src/providers'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/providers/${name}/README.md`),
]
  .flatMap((path) => fencesIn(path, read(path)))
  .filter(({ language }) => ['yaml', 'json'].includes(language))
  // The kinds of a plug-in are in no schema of this version.
  .filter(({ text }) => !/^plugins:/m.test(text));

const keysOf = (text: string): string[] => Object.keys(parse(text) ?? {});
const isWholePool = ({ text }: Fence): boolean => keysOf(text).includes('name') && !keysOf(text).includes('kind');
const isWholeServerFile = ({ text }: Fence): boolean => keysOf(text).some((key) => SERVER_KEYS.includes(key));

test.each([
  ['pool documents', isWholePool, isPool],
  ["server's files", isWholeServerFile, isServerFile],
] as const)('every example of %s is valid by its schema', (_what, isMeant, isValid) => {
  const meant = examples.filter(isMeant);
  const wrong = meant
    .filter(({ text }) => !isValid(parse(text)))
    .map(({ path, line, text }) => `${path}:${line}: ${isValid(parse(text)) || JSON.stringify(isValid.errors?.[0])}`);

  expect(wrong).toEqual([]);
  expect(meant.length).toBeGreaterThan(8);
});

test('what people mistype is refused by the schemas', () => {
  expect(isPool({ name: 'a', auto_scaler: { max_agnts: 1 } })).toBe(false);
  expect(isPool({ name: 'a', autoScaler: { backend: { awsLaunchTemplat: {} } } })).toBe(false);
  expect(isServerFile({ agent_pool: [] })).toBe(false);
});

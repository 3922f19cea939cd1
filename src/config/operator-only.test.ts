import { expect, it } from 'vitest';
import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { Backend, Kinds } from '#core/provider.ts';
import { readPool } from './pool-document.ts';

const endpoint = z.string().optional().meta({ operatorOnly: true });
const kinds: Kinds<Backend> = {
  cloudy: {
    summary: 'Machines of a cloud.',
    config: z
      .strictObject({ size: z.string(), endpoint, inner: z.strictObject({ endpoint }).optional() })
      .refine(({ size }) => size !== 'none', 'needs a size'),
    example: { size: 'small' },
    trust: 'any source',
    open: () => Promise.reject(new Fault('unsupported', 'Never opened.')),
  },
};

const textOf = (config: object): string => JSON.stringify({ name: 'p', auto_scaler: { backend: { cloudy: config } } });
const problemsOf = (config: object, trust: 'operator' | 'foreign') =>
  readPool(textOf(config), { kinds, trust }).problems?.map(({ path, message }) => `${path}: ${message}`) ?? [];

it('refuses a key of the operator in documents of others, and names it', () => {
  const problems = problemsOf({ size: 'small', endpoint: 'http://evil' }, 'foreign');

  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain('auto_scaler.backend.cloudy.endpoint: endpoint may be set only in the operator');
});

it('refuses it also further inside', () => {
  expect(problemsOf({ size: 'small', inner: { endpoint: 'http://evil' } }, 'foreign')[0]).toContain('inner.endpoint');
});

it('lets the operator set it, and others name the kind without it', () => {
  expect(problemsOf({ size: 'small', endpoint: 'http://127.0.0.1:1' }, 'operator')).toEqual([]);
  expect(problemsOf({ size: 'small' }, 'foreign')).toEqual([]);
});

it('refuses a key of the operator that has a default only where it was written, and beside other problems', () => {
  const region = z.string().default('here').meta({ operatorOnly: true });
  const inner = z.strictObject({ region }).prefault({});
  const config = z.strictObject({ size: z.string(), region, inner });
  const withDefaults = { cloudy: { ...(kinds.cloudy as Kinds<Backend>[string]), config } };
  const read = (written: object) => readPool(textOf(written), { kinds: withDefaults, trust: 'foreign' });

  expect(read({ size: 'small' }).spec?.offers).toMatchObject([
    { config: { region: 'here', inner: { region: 'here' } } },
  ]);
  expect(read({ size: 'small', inner: {} }).problems).toBeUndefined();
  expect(read({ size: 'small', region: 'here' }).problems?.map(({ path }) => path)).toEqual([
    'auto_scaler.backend.cloudy.region',
  ]);
  expect(read({ size: 7, inner: { region: 'there' } }).problems?.map(({ path }) => path)).toEqual([
    'auto_scaler.backend.cloudy.size',
    'auto_scaler.backend.cloudy.inner.region',
  ]);
});

it('lets the documents of a source name a kind that it lends, with the keys that the source itself sets', () => {
  const only: Kinds<Backend> = { cloudy: { ...(kinds.cloudy as Kinds<Backend>[string]), trust: 'operator only' } };
  const read = (mayName?: readonly string[]) =>
    readPool(textOf({ size: 'small', endpoint: 'http://here' }), { kinds: only, trust: 'foreign', mayName });

  expect(read().problems?.[0]?.message).toContain("only the operator's own file may use it");
  expect(read(['other']).problems?.[0]?.message).toContain("only the operator's own file may use it");
  expect(read(['cloudy']).spec?.offers).toMatchObject([{ kind: 'cloudy', config: { endpoint: 'http://here' } }]);
});

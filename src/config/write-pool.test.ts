// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PoolSpec } from '#core/pool.ts';
import { kind } from '#core/provider.ts';
import { duration, environmentMap, freeMap, script, secret } from '#core/schema.ts';
import { writeYaml } from '#core/yaml-text.ts';
import { providers } from '../providers/providers.gen.ts';
import { knownKinds } from './kinds.ts';
import { readPool } from './pool-document.ts';
import { standIns } from './testing.ts';
import { nodeOf } from './tree.ts';
import { mustReadBack, refusedElsewhere, writePool } from './write-pool.ts';

const open = async () => Promise.reject(new Error('not here'));
const odd = kind({
  summary: 'A stand-in with every form of value.',
  config: z.object({
    stopAfter: duration().prefault('0s'),
    many: z.array(z.object({ waitFor: duration().optional(), key: z.string() })).default([]),
    either: z.union([z.string(), z.object({ oneName: z.string() }), z.array(z.string())]).optional(),
    env: environmentMap().prefault({}),
    tags: freeMap().prefault({}),
    apiToken: secret().optional(),
    run: script().optional(),
  }),
  example: {},
  trust: 'any source',
  open,
});
const upper = kind({
  summary: 'A stand-in that changes what it reads.',
  config: z.object({ word: z.string().transform((word) => word.length) }),
  example: {},
  trust: 'any source',
  open,
});
const louder = kind({
  summary: 'Another.',
  example: {},
  trust: 'any source',
  open,
  config: z.object({ word: z.string().transform((word) => `${word}!`) }),
});
const { backends: kinds } = knownKinds([standIns, { id: 'odd', title: 'Odd', backends: { odd, upper, louder } }]);

function specOf(document: unknown, among = kinds): PoolSpec {
  const read = readPool(nodeOf(document), { kinds: among, trust: 'operator' });
  if (!read.spec) throw new Error(JSON.stringify(read.problems));
  return read.spec;
}

const again = (text: string): PoolSpec | undefined => readPool(text, { kinds, trust: 'operator' }).spec;
const written = (document: object) => writePool(specOf(document), { kinds }).document;

describe('writing a pool', () => {
  it('gives the document of a user: snake_case, durations, and nothing that needs no saying', () => {
    const document = {
      name: 'gpu',
      auto_scaler: {
        backend: { aws_launch_template: { instance_type: 'p3.2xlarge', tags: { Some_Tag: '1.10' } } },
        max_agents: 20,
        min_idle_agents: 2,
        max_idle_agents: 5,
        idle_decay: '1m30s',
      },
    };

    expect(written(document)).toEqual(document);
    expect(written({ name: 'mine', autoScaler: {}, bootTimeout: '15m' })).toEqual({ name: 'mine' });
    expect(written({ name: 'idle', autoScaler: { minIdleAgents: 3, maxIdleAgents: 1 } })).toEqual({
      name: 'idle',
      auto_scaler: { min_idle_agents: 3 },
    });
  });

  it('writes several backends with their terms, and one with terms as a list', () => {
    const backends = [
      { aws_launch_template: { instance_type: 'a' }, price_per_hour: 1.5, max_agents: 3 },
      { aws_launch_template: { instance_type: 'b' }, price_per_hour: 2 },
    ];
    const one = { name: 'one', auto_scaler: { backends: backends.slice(1), max_agents: 1 } };

    expect(written({ name: 'two', auto_scaler: { backends, max_agents: 1, max_price_per_hour: 9 } })).toEqual({
      name: 'two',
      auto_scaler: { backends, max_agents: 1, max_price_per_hour: 9 },
    });
    expect(written(one)).toEqual(one);
  });

  it('leaves secrets out and names them; scripts only where they must not be seen', () => {
    const backend = { odd: { env: { PASS: 'planted' }, api_token: 'planted', run: 'curl -H ${planted}' } };
    const spec = specOf({ name: 'a', auto_scaler: { backend } });

    const shown = writePool(spec, { kinds });
    const hidden = writePool(spec, { kinds, hidesScripts: true });

    expect(shown.document).toEqual({
      name: 'a',
      auto_scaler: { backend: { odd: { env: {}, run: 'curl -H ${planted}' } } },
    });
    expect(shown.leftOut).toEqual(['auto_scaler.backend.odd.env.PASS', 'auto_scaler.backend.odd.api_token']);
    expect(JSON.stringify(hidden.document)).not.toContain('planted');
    expect(hidden.leftOut).toContain('auto_scaler.backend.odd.run');
  });

  it('refuses what would not read back as it is, and a kind that is gone', () => {
    const spec = specOf({ name: 'a', auto_scaler: { backend: { upper: { word: 'four' } } } });
    const loud = specOf({ name: 'b', auto_scaler: { backend: { louder: { word: 'four' } } } });

    expect(() => mustReadBack(spec, kinds)).toThrow(/pool "a" as a document/);
    expect(() => mustReadBack(loud, kinds)).toThrow(/pool "b" as a document/);
    expect(() => writePool(spec, { kinds: {} })).toThrow(/backend upper, which this server does not know/);
  });
});

// The characters that a document may hold; those that no text can carry are refused when it is read.
const word = fc.string({ unit: fc.constantFrom(...'aZ09 _-.:#{}$%"\'\\/ü\n'), maxLength: 12 });
const ms = fc.integer({ min: 0, max: 10 ** 9 });
const key = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,8}$/);
const escaped = (text: string): string => text.replaceAll('${', () => '$${');
const text = word.map(escaped);
const millis = ms.map((value) => `${value}ms`);
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const oddConfig = fc.record(
  {
    stop_after: millis,
    many: fc.array(fc.record({ wait_for: millis, key: text }, { requiredKeys: ['key'] }), { maxLength: 3 }),
    either: fc.oneof(text, fc.record({ one_name: text }), fc.array(text, { maxLength: 2 })),
    tags: fc.dictionary(key, text),
    run: word,
  },
  { requiredKeys: [] },
);
const awsConfig = fc.record({ instance_type: text, tags: fc.dictionary(key, text), ami_id: some(text) });
const offered = fc
  .tuple(oddConfig, awsConfig, fc.double({ min: 0, max: 100, noNaN: true }), fc.nat(50))
  .map(([oddly, aws, price, most]) => [
    { odd: oddly, price_per_hour: price },
    { aws_launch_template: aws, max_agents: most },
  ]);
const scaler = fc
  .record(
    {
      min_agents: fc.nat(5),
      min_idle_agents: fc.nat(5),
      max_idle_agents: fc.nat(9),
      default_slots_per_agent: fc.nat(4),
      idle_decay: millis,
      initial_delay: millis,
      sync_loop_interval: millis,
      kill_unknown_after: millis,
      scale_up_error_retry_delay: millis,
      allocation_error_reset_after: millis,
      mode: fc.constantFrom('batch', 'standard'),
    },
    { requiredKeys: [] },
  )
  .map((fields) => ({ ...fields, max_agents: 9 }));
const backends = fc.oneof(
  fc.constant({}),
  oddConfig.map((config) => ({ backend: { odd: config } })),
  offered.map((list) => ({ backends: list })),
);
const documents = fc
  .record(
    {
      description: text,
      labels: fc.dictionary(key, text),
      drain_timeout: millis,
      boot_timeout: ms.map((value) => `${value + 1_000}ms`),
      update_policy: fc.constantFrom('keep', 'rolling', 'replace_idle'),
      agent_auth: fc.constantFrom('token', 'mtls', 'network'),
    },
    { requiredKeys: [] },
  )
  .chain((fields) =>
    fc.tuple(scaler, backends).map(([sizes, makes]) => ({
      ...fields,
      name: 'pool',
      agent_networks: ['10.0.0.0/8'],
      auto_scaler: { ...sizes, ...makes },
    })),
  );

describe('a written pool', () => {
  it('reads back as the same definition, as JSON and as YAML', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const spec = specOf(document);

        const made = writePool(spec, { kinds });

        mustReadBack(spec, kinds);
        expect(made.leftOut).toEqual([]);
        expect(again(JSON.stringify(made.document))).toEqual(spec);
        expect(again(writeYaml(made.document))).toEqual(spec);
      }),
      { numRuns: 100 },
    );
  });

  const real = knownKinds(providers).backends;
  it.each(Object.entries(real))('of the backend %s reads back as its example', (name, { example }) => {
    const spec = specOf({ name: 'a', auto_scaler: { backend: { [name]: example }, max_agents: 1 } }, real);

    const { document, leftOut } = writePool(spec, { kinds: real });

    const back = readPool(nodeOf(document), { kinds: real, trust: 'operator' }).spec;
    if (leftOut.length === 0) expect(back).toEqual(spec);
  });

  it.each([
    ['aws_launch_template', undefined],
    ['command', /^auto_scaler\.backend\.command: .*operator/],
    ['process', /^auto_scaler\.backend\.process: .*operator/],
  ])('of the backend %s says why a source of others refuses it', (name, why) => {
    const { example } = real[name] as (typeof real)[string];
    const spec = specOf({ name: 'a', auto_scaler: { backend: { [name]: example }, max_agents: 1 } }, real);

    const refusals = refusedElsewhere(spec, real);

    expect(refusals).toEqual(why ? [expect.stringMatching(why)] : []);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PoolReading, readCompactJson, readPool } from './pool-document.ts';
import { standInKinds } from './testing.ts';
import { plain } from './tree.ts';

const read = (text: string): PoolReading => readPool(text, { kinds: standInKinds.backends, trust: 'foreign' });

const count = fc.oneof(fc.nat(50), fc.nat(50).map(String), fc.constant('many'), fc.constant(null));
const scaler = fc.record(
  { max_agents: count, minAgents: count, idle_decay: fc.constantFrom('5m', '1h30m', 7, 'soon'), mode: fc.string() },
  { requiredKeys: [] },
);
const document = fc.record(
  {
    name: fc.oneof(fc.string({ minLength: 1 }), fc.constant('gpu')),
    description: fc.oneof(fc.string({ unit: 'grapheme' }), fc.double()),
    labels: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.boolean(), fc.double(), fc.integer())),
    auto_scaler: scaler,
    agent_auth: fc.constantFrom('token', 'network', 'none'),
    strange: fc.json(),
  },
  { requiredKeys: ['name'] },
);

describe('compact JSON', () => {
  it('means the same as when a person has laid it out', () => {
    fc.assert(
      fc.property(document, (value) => {
        const compact = read(JSON.stringify(value));
        const laidOut = read(JSON.stringify(value, undefined, 2));

        expect(compact.spec).toEqual(laidOut.spec);
        expect(compact.problems?.map(({ path, message }) => ({ path, message }))).toEqual(
          laidOut.problems?.map(({ path, message }) => ({ path, message })),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('is read whole', () => {
    const value = { name: 'a', list: [1, [true, null], { b: 'c' }], map: { 'with blank': 1.5 } };

    const tree = readCompactJson(JSON.stringify(value));

    expect(tree && plain(tree)).toEqual(value);
  });

  it.each([
    ['a key that comes twice', '{"name":"a","name":"b"}'],
    ['a number that would be rounded', '{"name":"a","n":12345678901234567890}'],
    ['a key that is a prototype', '{"name":"a","__proto__":{"x":1}}'],
    ['blanks', '{"name": "a"}'],
    ['a list', '[{"name":"a"}]'],
    ['YAML', 'name: a'],
    ['half a document', '{"name":"a"'],
    ['nesting without end', `{"name":"a","x":${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('leaves %s to the reader that knows places', (_, text) => {
    expect(readCompactJson(text)).toBeUndefined();
  });

  it('is refused where it holds what is no text', () => {
    const { problems } = read('{"name":"a","description":"\u007f"}');

    expect(problems?.[0]?.message).toContain('U+007f');
  });

  it('tells the place of whatever is wrong in it', () => {
    const { problems } = read('{"name":"a","auto_scaler":{"max_agents":-1}}');

    expect(problems).toEqual([expect.objectContaining({ line: 1, column: 41, path: 'auto_scaler.max_agents' })]);
  });
});

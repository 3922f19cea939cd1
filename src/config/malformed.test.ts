// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.
// Malformed documents, made from the schemas themselves: each is refused with a path, and none does anything else.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Problem } from '#core/problem.ts';
import { readAgentConfig } from './agent-file.ts';
import { agentSchema } from './agent-schema.ts';
import { joinPath, toCamel, toSnake } from './keys.ts';
import { readPool } from './pool-document.ts';
import { poolSchema } from './pool-schema.ts';
import type { Parsed } from './problem.ts';
import { objectFieldsOf, type Schema, unwrap } from './schema-walk.ts';
import { readServerFile } from './server-file.ts';
import { serverSchema } from './server-schema.ts';
import { standInKinds, testEnvironment } from './testing.ts';

type Step = string | number;
interface Spot {
  readonly path: readonly Step[];
  readonly type: string;
}

/** Every place that a schema knows, maps and lists included; into lists it goes by their first entry. */
function spotsOf(schema: Schema, path: readonly Step[] = []): readonly Spot[] {
  const unwrapped = unwrap(schema);
  const { def, notes } = unwrapped;
  if (notes.unused !== undefined) return [];
  const here = { path, type: def.type };
  if (def.type === 'array') return [here, ...spotsOf(def.element, [...path, 0])];
  const keys = Object.entries(objectFieldsOf(unwrapped) ?? {});
  return [here, ...keys.flatMap(([key, inner]) => spotsOf(inner, [...path, key]))];
}

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);

/** What can never stand at a place of that type. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  string: [5, true, [], {}, ['x'], { a: 1 }, deep(80)],
  number: [-1, 'many', '1x', true, [], {}, '1e999', [1], deep(80)],
  boolean: [0, 'yes', 'true', [], {}],
  union: [[], {}, deep(3), { a: [] }],
  enum: ['nonsense', 7, [], {}],
  object: [5, 'text', true, [1], [], deep(80)],
  record: [5, 'text', true, [1], { key: [1] }, { key: {} }],
  array: [5, 'text', true, { a: 1 }, [[[1]]]],
};

/** The document that has nothing but that value at that place. */
function documentWith(path: readonly Step[], value: unknown, spell: (key: string) => string): unknown {
  return path
    .toReversed()
    .reduce((inner: unknown, step) => (typeof step === 'number' ? [inner] : { [spell(step)]: inner }), value);
}

const written = (path: readonly Step[], spell: (key: string) => string): string => {
  let text = '';
  for (const step of path) text = joinPath(text, typeof step === 'number' ? step : spell(step));
  return text;
};

const environment = testEnvironment({ SET: 'x' });
const READERS: readonly (readonly [string, Schema, (text: string) => Parsed<unknown> | ReturnType<typeof readPool>])[] =
  [
    ['server file', serverSchema(standInKinds), (text) => readServerFile(text, { kinds: standInKinds, environment })],
    [
      'pool document',
      poolSchema(standInKinds.backends, 'operator'),
      (text) => readPool(text, { kinds: standInKinds.backends, trust: 'operator', expand: environment }),
    ],
    ['agent file', agentSchema, (text) => readAgentConfig(text, environment)],
  ];

function expectRefusal(result: object): readonly Problem[] {
  const { problems = [] } = result as { problems?: readonly Problem[] };
  expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems) {
    expect(problem.path).toBeTypeOf('string');
    expect(problem.message).toMatch(/\S/);
    expect(problem.message).not.toMatch(/undefined|\[object|Invalid input|NaN/);
  }
  expect(Object.keys(result).toSorted()).toEqual(['problems', 'warnings']);
  return problems;
}

describe.each(READERS)('a malformed %s', (_, schema, read) => {
  const spots = spotsOf(schema);
  const spelling = fc.constantFrom(toSnake, toCamel);
  const writing = fc.constantFrom(
    (value: unknown) => JSON.stringify(value),
    (value: unknown) => stringify(value, { aliasDuplicateObjects: false }),
  );

  it('is refused at the place of a wrong value', () => {
    const targets = spots.filter(({ path, type }) => path.length > 0 && WRONG[type]);
    const cases = targets.flatMap(({ path, type }) => (WRONG[type] ?? []).map((value) => ({ path, value })));

    fc.assert(
      fc.property(fc.constantFrom(...cases), spelling, writing, ({ path, value }, spell, write) => {
        const problems = expectRefusal(read(write(documentWith(path, value, spell))));

        const place = written(path, spell);
        expect(
          problems.some((problem) => problem.path.startsWith(place)),
          `none of ${JSON.stringify(problems)} is at ${place}`,
        ).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('is refused at an unknown key', () => {
    const maps = spots.filter(({ type }) => type === 'object');
    const key = fc.stringMatching(/^zz_[a-z_]{1,12}$/);

    fc.assert(
      fc.property(fc.constantFrom(...maps), key, spelling, writing, ({ path }, unknown, spell, write) => {
        const problems = expectRefusal(read(write(documentWith(path, { [unknown]: 1 }, spell))));

        expect(problems.map((problem) => problem.path)).toContain(
          written([...path, unknown], (step) => (step === unknown ? unknown : spell(step))),
        );
      }),
      { numRuns: 150 },
    );
  });

  it('is refused for a variable that is not set, wherever a text may stand', () => {
    const texts = spots.filter(({ type }) => ['string', 'number', 'boolean', 'union', 'enum'].includes(type));

    fc.assert(
      fc.property(fc.constantFrom(...texts), spelling, ({ path }, spell) => {
        const isScript = ['start', 'stop'].includes(String(path.at(-1)));
        fc.pre(!isScript);

        const problems = expectRefusal(read(JSON.stringify(documentWith(path, '${NOT_SET}', spell))));

        expect(problems).toContainEqual(
          expect.objectContaining({
            path: written(path, spell),
            message: expect.stringContaining('NOT_SET is not set'),
          }),
        );
      }),
      { numRuns: 150 },
    );
  });

  it('never does anything but answer, whatever the bytes', () => {
    const valid = fc.constantFrom(...spots).map(({ path }) => stringify(documentWith(path, 'x', toSnake)));
    const torn = fc
      .tuple(valid, fc.nat(80), fc.string({ unit: 'binary', maxLength: 8 }))
      .map(([text, at, junk]) => text.slice(0, at) + junk + text.slice(at));
    const noise = fc.oneof(
      torn,
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('- ', ': ', '{', '[', '&a ', '*a', '\n', '  ', '"', '|', '? ', 'name', '<<', '!!x '))
        .map((parts) => parts.join('')),
    );

    fc.assert(
      fc.property(noise, (text) => {
        const result = read(text);

        if (result.problems) expectRefusal(result);
        else expect(Object.keys(result)).not.toContain('problems');
      }),
      { numRuns: 200 },
    );
  });
});

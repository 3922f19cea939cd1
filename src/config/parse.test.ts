// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { count, duration, freeMap, protoEnum, script, secret, unused } from '#core/schema.ts';
import type { Expansion } from './environment.ts';
import { parseWith } from './parse.ts';
import { describeProblem, type Parsed } from './problem.ts';
import { testEnvironment } from './testing.ts';
import { nodeOf } from './tree.ts';
import { readYaml } from './yaml-document.ts';

function read<T>(schema: z.ZodType<T>, text: string, expand?: Expansion): Parsed<T> {
  const tree = readYaml(text);
  return tree.problems ? tree : parseWith(schema, tree.value, { expand });
}

const problemTexts = (parsed: Parsed<unknown>): readonly string[] | undefined =>
  parsed.problems?.map((problem) => describeProblem(problem));

interface Tree {
  readonly nodeName: string;
  readonly subTrees?: readonly Tree[] | undefined;
}
const tree: z.ZodType<Tree> = z.lazy(() => z.object({ nodeName: z.string(), subTrees: z.array(tree).optional() }));

const everything = z.object({
  maxAgents: count().default(3),
  ratio: z.number().optional(),
  isOn: z.boolean().optional(),
  keepFor: duration().prefault('1m'),
  mode: protoEnum('MODE_', ['unspecified', 'standard', 'batch']).optional(),
  level: z.enum(['low', 'high']).optional(),
  hostMap: freeMap().optional(),
  podTemplate: z.record(z.string(), z.unknown()).optional(),
  deepParts: z.array(z.object({ partName: z.string() })).optional(),
  apiToken: secret().optional(),
  startScript: script().optional(),
  ownTree: tree.optional(),
  anyOf: z.union([z.object({ filePath: z.string() }), z.object({ webUrl: z.string(), maxTries: count() })]).optional(),
  oneOf: z
    .discriminatedUnion('kindOf', [
      z.object({ kindOf: z.literal('a'), sizeGb: count() }),
      z.object({ kindOf: z.literal('b') }),
    ])
    .optional(),
  both: z
    .object({ leftHand: z.string() })
    .and(z.object({ rightHand: z.string() }))
    .optional(),
  mayBeNull: z.string().nullable().optional(),
  oldKey: unused('nobody needs it'),
  loose: z.looseObject({ knownKey: z.string().optional() }).optional(),
});

describe('parseWith', () => {
  it.each([
    [
      'snake_case',
      'max_agents: 5\nis_on: true\nkeep_for: 5m\ndeep_parts: [{part_name: x}]',
      { maxAgents: 5, isOn: true, keepFor: 300_000, deepParts: [{ partName: 'x' }] },
    ],
    ['camelCase', 'maxAgents: 5\nkeepFor: 1h30m', { maxAgents: 5, keepFor: 5_400_000 }],
    ['nothing', '{}', { maxAgents: 3, keepFor: 60_000 }],
    [
      'numbers as texts, as proto-JSON writes them',
      '{"max_agents": "12", "ratio": "0.5"}',
      { maxAgents: 12, ratio: 0.5 },
    ],
    ['an enum by its full name', 'mode: MODE_BATCH', { mode: 'batch' }],
    ['an enum by its number', 'mode: 2', { mode: 'batch' }],
    ['an enum by its short name', 'mode: batch', { mode: 'batch' }],
    [
      'keys of free maps as they stand',
      'host_map: {max_agents: x, maxAgents: y}',
      { hostMap: { max_agents: 'x', maxAgents: 'y' } },
    ],
    [
      'values of free maps as they were written',
      'host_map: {version: 1.10, big: 0x1F, is: true}',
      { hostMap: { version: '1.10', big: '0x1F', is: 'true' } },
    ],
    [
      'free content as it stands',
      'pod_template: {spec: {host_network: true, hostPID: [1]}}',
      { podTemplate: { spec: { host_network: true, hostPID: [1] } } },
    ],
    [
      'schemas that contain themselves',
      'own_tree: {node_name: a, sub_trees: [{nodeName: b, subTrees: []}]}',
      { ownTree: { nodeName: 'a', subTrees: [{ nodeName: 'b', subTrees: [] }] } },
    ],
    [
      'the option of a union that fits',
      'any_of: {web_url: x, max_tries: "2"}',
      { anyOf: { webUrl: 'x', maxTries: 2 } },
    ],
    [
      'the option that a discriminator names',
      'one_of: {kind_of: a, size_gb: 1}',
      { oneOf: { kindOf: 'a', sizeGb: 1 } },
    ],
    ['two schemas at once', 'both: {left_hand: a, rightHand: b}', { both: { leftHand: 'a', rightHand: 'b' } }],
    ['a key without a value as absent', 'max_agents:\nmode: ~', { maxAgents: 3 }],
    ['null where it means something', 'may_be_null:', { mayBeNull: null }],
    [
      'unknown keys where they are welcome',
      'loose: {known_key: a, other_key: 1}',
      { loose: { knownKey: 'a', other_key: 1 } },
    ],
  ])('reads %s', (_, text, value) => {
    const parsed = read(everything, text);

    expect(problemTexts(parsed)).toBeUndefined();
    expect(parsed.value).toMatchObject(value);
  });

  it.each([
    ['max_agnets: 1', '1:1: max_agnets: is not a known key; did you mean max_agents?'],
    ['maxAgnets: 1', '1:1: maxAgnets: is not a known key; did you mean maxAgents?'],
    [
      'deep_parts:\n  - part_name: a\n  - part_nam: b',
      '3:5: deep_parts[1].part_nam: is not a known key; did you mean part_name?',
      '3:5: deep_parts[1].part_name: is missing',
    ],
    ['max_agents: 1\nmaxAgents: 1', '2:1: maxAgents: is the same key as max_agents; keep one of them'],
    ['max_agents: many', '1:13: max_agents: must be a number, not the text "many"'],
    ['max_agents: 1.5', '1:13: max_agents: must be a whole number, not the number 1.5'],
    ['max_agents: -1', '1:13: max_agents: must be at least 0'],
    ['max_agents: [1]', '1:13: max_agents: must be a number, not a list'],
    ['is_on: "true"', '1:8: is_on: must be true or false, not the text "true"'],
    ['keep_for: 5 minutes', '1:11: keep_for: "5 minutes" is not a duration. Write it like 90s, 5m, 1h30m or 250ms.'],
    ['keep_for: -5m', '1:11: keep_for: must be at least 0s'],
    ['keep_for: [5m]', '1:11: keep_for: must be text or a number, not a list'],
    ['mode: MODE_TURBO', '1:7: mode: must be one of unspecified, standard, batch'],
    ['mode: 3', '1:7: mode: must be one of unspecified, standard, batch'],
    ['level: hihg', '1:8: level: must be one of low, high; did you mean high?'],
    ['host_map: {a: [1]}', '1:15: host_map.a: must be text or a number or true or false, not a list'],
    ['host_map: x', '1:11: host_map: must be a map of keys, not the text "x"'],
    ['own_tree: {node_name: a, sub_trees: [{}]}', '1:38: own_tree.sub_trees[0].node_name: is missing'],
    ['ownTree: {subTrees: []}', '1:10: ownTree.nodeName: is missing'],
    [
      'any_of: {web_url: x, max_tires: 2}',
      '1:9: any_of.max_tries: is missing',
      '1:22: any_of.max_tires: is not a known key; did you mean max_tries?',
    ],
    ['one_of: {kind_of: c}', '1:19: one_of.kind_of: must be one of a, b'],
    ['one_of: {kind_of: a, size_gb: -1}', '1:31: one_of.size_gb: must be at least 0'],
    ['[1, 2]', '1:1: the document must be a map of keys, not a list'],
    ['api_token: 12345', '1:12: api_token: must be text, not a number'],
  ])('refuses %s', (text, ...problems) => {
    expect(problemTexts(read(everything, text))).toEqual(problems);
  });

  it('tells all problems at once, in the order of the text', () => {
    const problems = problemTexts(
      read(everything, 'max_agents: x\nbogus: 1\nkeep_for: y\nlevel: z\ndeep_parts: [{}]\n'),
    );

    expect(problems).toEqual([
      expect.stringMatching(/^1:13: max_agents/),
      expect.stringMatching(/^2:1: bogus/),
      expect.stringMatching(/^3:11: keep_for/),
      expect.stringMatching(/^4:8: level/),
      expect.stringMatching(/^5:14: deep_parts\[0\]\.part_name/),
    ]);
  });

  it('accepts a key without effect with one warning', () => {
    const { value, warnings } = read(everything, 'old_key: {any: [thing, "${UNSET}"]}');

    expect(value).toBeDefined();
    expect(warnings).toEqual([{ path: 'old_key', line: 1, column: 1, message: 'has no effect: nobody needs it' }]);
  });

  it('reads plain data as well, then without lines', () => {
    expect(parseWith(everything, nodeOf({ max_agents: 4 })).value).toMatchObject({ maxAgents: 4 });
    expect(parseWith(everything, nodeOf({ max_agents: -4 })).problems).toEqual([
      { path: 'max_agents', message: 'must be at least 0' },
    ]);
  });
});

describe('parseWith and the environment', () => {
  const environment = testEnvironment(
    { N: '7', ON: 'true', FOR: '5m', WORD: 'secret-from-outside' },
    { '/run/t': 'filed' },
  );

  it('expands texts, and turns them into what the schema wants', () => {
    const text =
      'max_agents: ${N}\nis_on: ${ON}\nkeep_for: ${FOR}\nhost_map: {a: "${N}"}\npod_template: {x: ["${WORD}"]}\napi_token: file:/run/t';

    expect(read(everything, text, environment).value).toMatchObject({
      maxAgents: 7,
      isOn: true,
      keepFor: 300_000,
      hostMap: { a: '7' },
      podTemplate: { x: ['secret-from-outside'] },
      apiToken: 'filed',
    });
  });

  it('expands values only, never the text of the document', () => {
    const sly = testEnvironment({ SLY: 'x\nmax_agents: 99' });

    expect(read(everything, 'host_map:\n  a: ${SLY}', sly).value).toMatchObject({
      maxAgents: 3,
      hostMap: { a: 'x\nmax_agents: 99' },
    });
  });

  it('takes scripts as they stand', () => {
    expect(read(everything, 'start_script: echo ${WORKER_NAME} $${X}', environment).value).toMatchObject({
      startScript: 'echo ${WORKER_NAME} $${X}',
    });
  });

  it('reads file: only in secret fields', () => {
    expect(read(everything, 'host_map: {a: "file:/run/t"}', environment).value).toMatchObject({
      hostMap: { a: 'file:/run/t' },
    });
  });

  it('names an unset variable once, at its place', () => {
    expect(problemTexts(read(everything, 'max_agents: 1\nratio: ${NOPE}', environment))).toEqual([
      expect.stringMatching(/^2:8: ratio: the environment variable NOPE is not set/),
    ]);
  });

  it('never shows what the environment held in a message', () => {
    const problems = problemTexts(
      read(everything, 'keep_for: ${WORD}\nmax_agents: ${WORD}\nlevel: ${WORD}\nmode: ${WORD}', environment),
    );

    expect(problems).toHaveLength(4);
    expect(problems?.join()).not.toMatch('secret-from-outside');
    expect(problems?.[0]).toMatch('"${WORD}" is not a duration');
  });

  it('refuses both in a document from elsewhere', () => {
    expect(problemTexts(read(everything, 'ratio: ${N}\napi_token: file:/run/t'))).toEqual([
      expect.stringMatching(/^1:8: ratio: .*only in the operator's own file/),
      expect.stringMatching(/^2:12: api_token: .*only in the operator's own file/),
    ]);
  });
});

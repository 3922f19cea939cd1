import { createHash } from 'node:crypto';
import type { MissingKey } from '../run/state.ts';
import type { TemplateFile } from '../template-set.ts';

/** A template with its data; what Go makes of it is in `outcomes.json`. The first file is rendered. */
export interface CorpusCase {
  readonly name: string;
  readonly files: readonly TemplateFile[];
  readonly data?: object | string | number | null;
  readonly missingKey?: MissingKey;
}

/** What Go gave: an output, or its error and whether it came from parsing. */
export interface GoOutcome {
  readonly name: string;
  readonly output?: string;
  readonly error?: string;
  readonly stage?: 'parse' | 'execute' | 'panic';
  readonly digest?: string;
}

/** Data that most cases share: every kind of value, nested and empty ones too. */
export const SHARED = {
  name: 'web',
  text: 'Hello, World',
  unicode: 'Zürich – 日本語 🚀',
  empty: '',
  count: 3,
  zero: 0,
  negative: -7,
  big: 9007199254740991,
  ratio: 1.5,
  tiny: 0.000001,
  huge: 1e21,
  yes: true,
  no: false,
  nothing: null,
  list: ['a', 'b', 'c'],
  numbers: [3, 1, 2],
  mixed: [1, 'two', 3.5, true, null, ['x'], { k: 'v' }],
  none: [],
  map: { b: 2, a: 1, c: 3 },
  labels: { app: 'web', 'app.kubernetes.io/name': 'web', tier: 'front' },
  hollow: {},
  nested: {
    one: { two: { three: 'deep' } },
    list: [
      { name: 'n1', port: 80 },
      { name: 'n2', port: 443 },
    ],
    nil: null,
  },
};

/** One case for each template, numbered within its group. */
export function cases(
  group: string,
  templates: readonly string[],
  more: Omit<CorpusCase, 'name' | 'files'> = { data: SHARED },
): CorpusCase[] {
  return templates.map((text, n) => ({ name: `${group} ${n + 1}`, files: [{ name: 't', text }], ...more }));
}

/** A short digest of a case: an outcome belongs to the case as it was when Go rendered it. */
export const digestOf = (one: CorpusCase): string =>
  createHash('sha256').update(JSON.stringify(one)).digest('hex').slice(0, 12);

export const withDigests = (all: readonly CorpusCase[], outcomes: readonly GoOutcome[]): GoOutcome[] =>
  outcomes.map((outcome, n) => ({ ...outcome, digest: digestOf(all[n] as CorpusCase) }));

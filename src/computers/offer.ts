// The offer of a computer. A fault names what its caller has written: the option of a platform, or the key of a backend.

import { toSnake } from '#config/keys.ts';
import { type KnownKinds, oneKind } from '#config/kinds.ts';
import { offerOf } from '#config/offers.ts';
import { parseWith } from '#config/parse.ts';
import { problemsFault } from '#config/problem.ts';
import { nodeOf } from '#config/tree.ts';
import type { Offer } from '#core/pool.ts';
import type { Problem } from '#core/problem.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The options from which a platform made the backend. */
export interface GivenOptions {
  readonly platform: string;
  readonly options: Fields;
}

/** The problem of a key of the backend is that of the option with its value. */
function asOption(problem: Problem, backend: Fields, { options }: GivenOptions): Problem {
  const [, kind = '', key = ''] = problem.path.replace(/\[.*/, '').split('.');
  const value = (backend[kind] as Fields | undefined)?.[key];
  const option = Object.keys(options).find((name) => value !== undefined && String(options[name]) === String(value));
  return option === undefined ? problem : { ...problem, path: `options.${toSnake(option)}` };
}

/** The backend was made by us or by an admin, so it may name every kind. */
export function offerFor({ backends }: KnownKinds, backend: Fields, given?: GivenOptions): Offer {
  const { value, problems } = parseWith(oneKind(backends, 'backend', 'operator'), nodeOf(backend), {
    under: 'backend',
  });
  if (!problems) return offerOf(value);
  if (!given) throw problemsFault(problems, undefined, 'Correct the backend, then try again.');
  const named = problems.map((problem) => asOption(problem, backend, given));
  throw problemsFault(named, undefined, `\`muster computer platforms ${given.platform}\` lists its options.`);
}

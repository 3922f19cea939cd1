import type { KnownFunctions } from '../syntax/token-reader.ts';
import { builtinFunctions } from './builtin.ts';
import { comparisonFunctions } from './compare.ts';
import { clockFunctions, dateFunctions } from './dates.ts';
import { defaultFunctions } from './defaults.ts';
import { dictFunctions } from './dicts.ts';
import { encodingFunctions } from './encoding.ts';
import type { Functions } from './function.ts';
import { helmFunctions } from './helm.ts';
import { jsonFunctions } from './json.ts';
import { listFunctions } from './lists.ts';
import { numericFunctions } from './numeric.ts';
import { pathFunctions } from './paths.ts';
import { randomFunctions } from './random.ts';
import { NEEDS_CLOCK, NEEDS_RANDOM, REFUSED } from './refused.ts';
import { regexFunctions } from './regex.ts';
import { semverFunctions } from './semver.ts';
import { stringFunctions } from './strings.ts';
import { urlFunctions } from './urls.ts';

/** Functions by theme, as the documentation lists them. */
export const THEMES: Readonly<Record<string, Functions>> = {
  'Built in': builtinFunctions,
  Comparison: comparisonFunctions,
  Text: stringFunctions,
  Lists: listFunctions,
  Maps: dictFunctions,
  'Defaults and types': defaultFunctions,
  Numbers: numericFunctions,
  'Encoding and digests': encodingFunctions,
  JSON: jsonFunctions,
  'Regular expressions': regexFunctions,
  Versions: semverFunctions,
  Dates: dateFunctions,
  'Dates, with a clock': clockFunctions,
  'Random values, with a source': randomFunctions,
  Paths: pathFunctions,
  Addresses: urlFunctions,
  Helm: helmFunctions,
};

const ALWAYS: Functions = Object.assign(
  {},
  ...Object.values(THEMES).filter((theme) => theme !== clockFunctions && theme !== randomFunctions),
) as Functions;

const because = (functions: Functions, why: string): Record<string, string> =>
  Object.fromEntries(Object.keys(functions).map((name) => [name, why]));

/** The functions that templates may call, with or without a clock and random values. */
export function knownFunctions(has: { readonly clock: boolean; readonly random: boolean }): KnownFunctions {
  return {
    known: { ...ALWAYS, ...(has.clock && clockFunctions), ...(has.random && randomFunctions) },
    refused: {
      ...REFUSED,
      ...(!has.clock && because(clockFunctions, NEEDS_CLOCK)),
      ...(!has.random && because(randomFunctions, NEEDS_RANDOM)),
    },
  };
}

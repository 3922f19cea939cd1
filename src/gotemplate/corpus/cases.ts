import { actionCases } from './actions.ts';
import { chartCases } from './charts.ts';
import { collectionCases } from './collections.ts';
import type { CorpusCase } from './corpus-case.ts';
import { faultCases } from './faults.ts';
import { numberCases } from './numbers.ts';
import { patternCases } from './patterns.ts';
import { printfCases } from './printf.ts';
import { runtimeCases } from './runtime-templates.ts';
import { textCases } from './texts.ts';
import { valueCases } from './values.ts';
import { yamlCases } from './yaml-texts.ts';

/** Every template that is rendered by Go and by us, with the same data. */
export const CORPUS: readonly CorpusCase[] = [
  ...actionCases,
  ...faultCases,
  ...valueCases,
  ...printfCases,
  ...textCases,
  ...collectionCases,
  ...numberCases,
  ...patternCases,
  ...yamlCases,
  ...chartCases,
  ...runtimeCases,
];

// Images and builds as people read them.
import { styleText } from 'node:util';
import type { FoundImage, ImageOutput, NamedImageEnd } from './images-local.ts';
import { age, type TableLayout } from './show.ts';
import { renderFacts } from './table.ts';
import { isInteractive, type Terminal } from './terminal.ts';

const SHOWN_HASH = 12;

const seconds = ({ startedAt, endedAt }: NamedImageEnd): string => `${((endedAt - startedAt) / 1_000).toFixed(1)} s`;

/** One line for a build that is over. */
export function endLine(end: NamedImageEnd): string {
  const { image, isBuilt, fault, builder } = end;
  if (!image) return `${builder}: failed after ${seconds(end)}: ${fault?.message ?? ''}`;
  const made = isBuilt ? `built in ${seconds(end)}` : 'its recipe has not changed, so nothing was built';
  return `${image.reference} (${builder}): ${made}`;
}

/** Everything that a build says, on stderr: steps stand out, their output is below them. */
export function printedOutput({ errors }: Terminal, isOneOfMany: boolean): ImageOutput {
  const bold = (text: string): string => (isInteractive(errors) ? styleText('bold', text) : text);
  return {
    begin: (builder) => void (isOneOfMany && errors.write(`${bold(`== ${builder}`)}\n`)),
    step: (title) => void errors.write(`${bold(`> ${title.split('\n')[0]}`)}\n`),
    line: (text) => void errors.write(`  ${text}\n`),
  };
}

export const imageListing = (nowMs: number): TableLayout<FoundImage> => ({
  columns: [
    { title: 'IMAGE', value: ({ reference }) => reference },
    { title: 'BUILDER', value: ({ builder }) => builder },
    { title: 'RECIPE', value: ({ recipe }) => recipe.slice(0, SHOWN_HASH) },
    { title: 'BUILT', value: ({ builtAt }) => age(builtAt, nowMs) },
    { title: 'WHERE', value: ({ cloud }) => cloud, isWide: true },
    { title: 'ID', value: ({ ids }) => Object.values(ids).join(', '), isWide: true },
  ],
  nothing: 'No images. `muster image build docker` builds one.',
});

/** As the JSON of a command has it: in the words of the API. */
export const shownImage = ({ builtAt, ...image }: FoundImage) => ({
  ...image,
  built_at: new Date(builtAt).toISOString(),
});

export function imageFacts({ reference, builder, cloud, recipe, ids, builtAt, version }: FoundImage): string {
  const places = Object.entries(ids).map(([region, id]) => [region === '' ? 'Id' : `Id in ${region}`, id] as const);
  return renderFacts([
    ['Image', reference],
    ['Version', version],
    ['Builder', builder],
    ['Where', cloud],
    ['Recipe', recipe],
    ['Built', new Date(builtAt).toISOString()],
    ...places,
  ]);
}

// Images and builds as people read them.
import { styleText } from 'node:util';
import type { ImageBuild } from '../api/wire/image.ts';
import type { ImageOutput, NamedImageEnd } from './images-local.ts';
import type { KnownImage } from './known-images.ts';
import { age, ageOf, type TableLayout } from './show.ts';
import { oneLine, renderFacts } from './table.ts';
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

export const imageListing = (nowMs: number): TableLayout<KnownImage> => ({
  columns: [
    { title: 'IMAGE', value: ({ reference }) => reference },
    { title: 'BUILDER', value: ({ builder }) => builder },
    { title: 'RECIPE', value: ({ recipe }) => recipe.slice(0, SHOWN_HASH) },
    { title: 'BUILT', value: ({ builtAt }) => age(builtAt, nowMs) },
    { title: 'SEEN', value: ({ isHere, record }) => (isHere ? 'here' : `on ${record?.host}`) },
    { title: 'WHERE', value: ({ cloud }) => cloud, isWide: true },
    { title: 'ID', value: ({ ids }) => Object.values(ids).join(', '), isWide: true },
  ],
  nothing: 'No images. `muster image build docker` builds one.',
});

/** As the JSON of a command has it: in the words of the API. */
export const printedImage = ({ builtAt, isHere, record, ...image }: KnownImage) => ({
  ...image,
  built_at: new Date(builtAt).toISOString(),
  here: isHere,
  ...(record && { host: record.host, by: record.by, build: record.build }),
});

export function imageFacts({ reference, builder, cloud, recipe, ids, builtAt, version, record }: KnownImage): string {
  const places = Object.entries(ids).map(([region, id]) => [region === '' ? 'Id' : `Id in ${region}`, id] as const);
  return renderFacts([
    ['Image', reference],
    ['Version', version],
    ['Builder', builder],
    ['Where', cloud],
    ['Recipe', recipe],
    ['Built', new Date(builtAt).toISOString()],
    ...places,
    ['Built on', record?.host],
    ['Built by', record?.by],
    ['Output', record && `muster image log ${record.build}`],
  ]);
}

const secondsOf = ({ started_at, ended_at }: ImageBuild): string =>
  `${((Date.parse(ended_at) - Date.parse(started_at)) / 1_000).toFixed(1)} s`;

export const buildListing = (nowMs: number): TableLayout<ImageBuild> => ({
  columns: [
    { title: 'BUILD', value: ({ id }) => id },
    { title: 'IMAGE', value: ({ image, version }) => image ?? version },
    { title: 'BUILDER', value: ({ builder }) => builder },
    { title: 'OUTCOME', value: ({ outcome }) => outcome },
    { title: 'TOOK', value: secondsOf, align: 'right' },
    { title: 'ENDED', value: ({ ended_at }) => ageOf(ended_at, nowMs) },
    { title: 'HOST', value: ({ host }) => host },
    { title: 'BY', value: ({ by }) => by, isWide: true },
    { title: 'ERROR', value: ({ error }) => error && oneLine(error), isWide: true },
  ],
  nothing: 'No builds. Each `muster image build` that reaches the server is listed here.',
});

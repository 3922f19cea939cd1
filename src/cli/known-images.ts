// Images as commands show them: those that builders of this machine see, and those that only the server has a record of.
import type { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Image } from '../api/wire/image.ts';
import type { Cli, Local } from './command.ts';
import { imageRecords } from './image-records.ts';
import type { FoundImage, FoundImages, ImageChoice } from './images-local.ts';
import { remark } from './terminal.ts';

export interface KnownImage extends FoundImage {
  /** Whether a builder of this machine sees it. */
  readonly isHere: boolean;
  /** What the server has a record of: where it was built, by whom, and the build. */
  readonly record?: Pick<Image, 'id' | 'host' | 'by' | 'build'> | undefined;
}

const isSame = (one: Pick<Image, 'cloud' | 'reference'>, other: Pick<Image, 'cloud' | 'reference'>): boolean =>
  one.cloud === other.cloud && one.reference === other.reference;

/** One image may have one engine as two builders, and so two entries. */
const distinct = (images: readonly FoundImage[]): readonly FoundImage[] =>
  images.filter((image, at) => images.findIndex((one) => isSame(one, image)) === at);

const idsOf = ({ ids }: { readonly ids: Readonly<Record<string, string>> }): string =>
  Object.values(ids).toSorted().join();

/** Joins both. A record of this machine that its builder no longer sees is one of an image that is gone. */
export function joined(found: readonly FoundImages[], records: readonly Image[], host: string): readonly KnownImage[] {
  const seen = distinct(found.flatMap(({ images }) => images)).map((image): KnownImage => {
    const record = records.find((one) => isSame(one, image) && idsOf(one) === idsOf(image));
    return { ...image, isHere: true, record };
  });
  const answered = new Set(found.flatMap(({ cloud, fault }) => (fault || cloud === undefined ? [] : [cloud])));
  const elsewhere = records.flatMap((one): KnownImage[] => {
    if (seen.some(({ record }) => record?.id === one.id)) return [];
    if (one.host === host && answered.has(one.cloud)) return [];
    const { built_at: builtAt, name, version, recipe, ids, reference, builder, cloud, ...record } = one;
    const image = { name, version, recipe, ids, reference, builder, cloud, builtAt: Date.parse(builtAt) };
    return [{ ...image, isHere: false, record }];
  });
  return [...seen, ...elsewhere];
}

/** Neither a builder of this machine nor a server answers. */
function nobodyKnows(failed: readonly FoundImages[]): Fault {
  const [first] = failed;
  if (first?.fault && failed.length === 1) return first.fault;
  const reasons = failed.map(({ builder, fault }) => `\n  ${builder}: ${fault?.message.split('\n')[0]}`);
  return new Fault('unavailable', `No builder of this machine can be asked, and no server:${reasons.join('')}`, {
    remedy: 'Ask one alone, such as `muster image ls docker`: it says what it needs.',
  });
}

/** All images that are known here; why some cannot be known is said beside them. */
export async function knownImages(
  cli: Cli,
  local: Local,
  choice: ImageChoice,
  command: Command,
): Promise<readonly KnownImage[]> {
  const [found, answer] = await Promise.all([local.images.list(choice, cli.signal), imageRecords(cli, command)]);
  const failed = found.filter(({ fault }) => fault !== undefined);
  const isAway = answer instanceof Fault;
  if (isAway && failed.length > 0 && failed.length === found.length) throw nobodyKnows(failed);
  const isOfAll = choice.kinds.includes('all');
  if (!isOfAll)
    for (const { builder, fault } of failed)
      remark(cli.terminal, `${builder} is not listed: ${fault?.message.split('\n')[0]}`);
  if (isAway) remark(cli.terminal, `The images of other machines are not listed: ${answer.message}`);
  const records = isAway ? [] : answer.filter(({ builder }) => isOfAll || choice.kinds.includes(builder));
  return joined(found, records, local.images.host);
}

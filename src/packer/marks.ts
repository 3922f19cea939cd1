// What a build by Packer leaves bears the mark of the build: by tags where Packer sets them, by name where it sets none.
import { Fault } from '#core/fault.ts';
import type { BuildMark, BuiltImage, Recipe } from '#core/image-builder.ts';

const NAME = /^muster-image-([a-z0-9]+(?:-[a-z0-9]+)*)-([0-9a-z]{8,9})$/;
const ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const TIME_LENGTH = 9;
const MOST_NAME = 63;

/** RFC 1035, at most 63 characters: the name of a machine, a key, a disk or a resource group. */
export function markName({ id, startedAt }: BuildMark): string {
  const name = `muster-image-${id}-${startedAt.toString(36).padStart(TIME_LENGTH, '0')}`;
  if (!ID.test(id) || name.length > MOST_NAME) throw new Fault('internal', `${id} cannot be the id of a build.`);
  return name;
}

/** The mark in such a name; nothing in any other. */
export function readMarkName(name: string): BuildMark | undefined {
  const [, id, started] = NAME.exec(name) ?? [];
  return id === undefined || started === undefined ? undefined : { id, startedAt: Number.parseInt(started, 36) };
}

/** The names of tags, as a cloud spells them: `muster:build`, `muster-build`. */
export type TagNames = Readonly<Record<'build' | 'name' | 'version' | 'recipe', string>>;

export const tagNames = (separator: ':' | '-'): TagNames => ({
  build: `muster${separator}build`,
  name: `muster${separator}image`,
  version: `muster${separator}version`,
  recipe: `muster${separator}recipe`,
});

type Tags = Readonly<Record<string, string | undefined>>;

/** On a finished image. */
export const imageTags = ({ build: _build, ...names }: TagNames, { name, version, hash }: Recipe) => ({
  [names.name]: name,
  [names.version]: version,
  [names.recipe]: hash,
});

/** What the tags of a finished image say of it; nothing where they are not ours, or not whole. */
export function readImageTags(
  names: TagNames,
  tags: Tags,
): Pick<BuiltImage, 'name' | 'version' | 'recipe'> | undefined {
  const [name, version, recipe] = [tags[names.name], tags[names.version], tags[names.recipe]];
  return name && version && recipe ? { name, version, recipe } : undefined;
}

const HASH_LENGTH = 8;

/** `muster-agent-1.2.0-0a1b2c3d`: the same recipe has the same name, another one of the same version another. */
export const imageName = ({ name, version, hash }: Recipe): string =>
  `${name}-${version}-${hash.slice(0, HASH_LENGTH)}`.replaceAll(/[^A-Za-z0-9._-]/g, '-');

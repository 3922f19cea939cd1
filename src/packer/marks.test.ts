import { expect, it } from 'vitest';
import { imageName, imageTags, markName, readImageTags, readMarkName, tagNames } from './marks.ts';
import { aRecipe } from './testing/recipe.ts';

it.each([
  { id: 'b7', startedAt: 0 },
  { id: 'k3-x9', startedAt: 1_794_000_000_000 },
])('the mark %j is in the name of all that cannot be tagged', (mark) => {
  const name = markName(mark);

  expect(name).toMatch(/^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])$/);
  expect(readMarkName(name)).toEqual(mark);
});

it.each(['muster-image', 'muster-image-x', 'packer_6543', 'muster-image-b7-0000000000', 'm-image-b7-000000000'])(
  'the name %s bears no mark',
  (name) => {
    expect(readMarkName(name)).toBeUndefined();
  },
);

it('an id that fits no name is a mistake of ours', () => {
  expect(() => markName({ id: 'A b', startedAt: 1 })).toThrow('cannot be the id of a build');
});

it('the tags of an image tell its name, version and recipe, and half of them tell nothing', () => {
  const [names, recipe] = [tagNames('-'), aRecipe()];
  const tags = imageTags(names, recipe);

  expect(readImageTags(names, tags)).toEqual({ name: 'muster-agent', version: '1.2.0', recipe: recipe.hash });
  expect(readImageTags(names, { ...tags, 'muster-recipe': undefined })).toBeUndefined();
});

it('another recipe of the same version has another name', () => {
  const [one, two] = [aRecipe(), aRecipe({ steps: ['false'] })];

  expect(imageName(one)).toMatch(/^muster-agent-1\.2\.0-[0-9a-f]{8}$/);
  expect(imageName(two)).not.toBe(imageName(one));
  expect(imageName(aRecipe({ version: '1.2.0+build' }))).toMatch(/^muster-agent-1\.2\.0-build-/);
});

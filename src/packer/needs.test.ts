import { expect, it } from 'vitest';
import { packerNeeds } from './needs.ts';

it('without Packer the fault says what it is for and how to get it', () => {
  expect(packerNeeds(undefined)).toEqual(packerNeeds({ find: () => undefined, run: async () => ({ code: 0 }) }));
  expect(packerNeeds(undefined)[0]).toMatchObject({
    program: 'packer',
    get: expect.stringContaining('apt-get install'),
  });
});

import { expect, it } from 'vitest';
import { partOf } from './partial-answer.ts';

const LISTING = {
  kind: 'storage#objects',
  items: [
    { name: 'a', size: '1', owner: { id: 'x', entity: 'y' } },
    { name: 'b', size: '2' },
  ],
  nextPageToken: 't',
};

it.each([
  ['kind,items(name),nextPageToken', { ...LISTING, items: [{ name: 'a' }, { name: 'b' }] }],
  [
    'items/name,items/size',
    {
      items: [
        { name: 'a', size: '1' },
        { name: 'b', size: '2' },
      ],
    },
  ],
  ['items(name,owner/id),prefixes', { items: [{ name: 'a', owner: { id: 'x' } }, { name: 'b' }] }],
  ['*', LISTING],
  ['items(*)', { items: LISTING.items }],
])('of a listing, %s is just that', (fields, part) => {
  expect(partOf(LISTING, fields)).toEqual(part);
});

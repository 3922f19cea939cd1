import { expect, it } from 'vitest';
import { sentences } from './sentences.ts';

it('sentences stand apart though one of them has no full stop, and the last one stays as it was written', () => {
  expect(sentences('It failed: no credentials ', undefined, 'Renew them.')).toBe(
    'It failed: no credentials. Renew them.',
  );
  expect(sentences('Is it there?', '', 'No')).toBe('Is it there? No');
});

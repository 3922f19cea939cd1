import { expect, test } from 'vitest';
import { outputFailure } from './output-failure.ts';

test('a closed pipe is no failure, and a full disk is one', () => {
  const failed = (code: string) => outputFailure(Object.assign(new Error('write'), { code }));

  expect(failed('EPIPE')).toBeUndefined();
  expect(failed('ENOSPC')).toMatchObject({ kind: 'unavailable', message: 'Cannot write the output: ENOSPC.' });
});

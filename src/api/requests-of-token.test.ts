import { expect, test } from 'vitest';
import { countRequests } from './requests-of-token.ts';

test('a token with as many requests as allowed is refused until one is answered, and others are not', () => {
  const requests = countRequests(2);
  const answered = requests.begin('a', false);
  requests.begin('a', false);

  expect(() => requests.begin('a', false)).toThrow('2 requests that are not answered yet');
  requests.begin('b', false);
  answered();

  requests.begin('a', false);
  expect(() => requests.begin('a', false)).toThrow();
});

test('requests that wait or follow are counted apart', () => {
  const requests = countRequests(1);
  requests.begin('a', true);

  expect(() => requests.begin('a', true)).toThrow('wait or follow');
  requests.begin('a', false);
});

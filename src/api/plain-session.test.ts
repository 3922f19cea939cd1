import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainSessions } from './plain-session.ts';
import { SessionIn, SessionsIn } from './wire/session.ts';

const plain = plainSessions();

test('a pool and a command are what the schema makes of them', () => {
  const sent = { pool: 'local', command: ['echo', 'é', ''] };

  expect(plain(sent)).toEqual(SessionIn.parse(sent));
});

test('each request has an environment and labels of its own', () => {
  const sent = { pool: 'local', command: ['true'] };

  expect(plain(sent)?.env).not.toBe(plain(sent)?.env);
  expect(plain(sent)?.labels).not.toBe(plain(sent)?.labels);
});

const text = fc.oneof(
  fc.constantFrom('', 'local', '\0', 'a\0b', 'x'.repeat(500), 'x'.repeat(501)),
  fc.string({ unit: 'binary' }),
  fc.string(),
);
const anything = fc.oneof(text, fc.anything());
const words = fc.array(fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.anything() }), {
  maxLength: 70,
});
const body = fc.oneof(
  fc.record({ pool: anything, command: fc.oneof(words, anything) }),
  fc.record({ pool: text, command: words, priority: fc.integer() }, { requiredKeys: ['pool', 'command'] }),
  fc.record({ pool: text, command: words }, { requiredKeys: [] }),
  fc.array(fc.record({ pool: text, command: words })),
  fc.anything(),
);

test('whatever it takes, the schema takes too, and makes the same of it', () => {
  fc.assert(
    fc.property(body, (sent) => {
      const taken = plain(sent);
      if (taken) expect(SessionsIn.safeParse(sent)).toEqual({ success: true, data: taken });
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  [{ pool: '', command: ['true'] }],
  [{ pool: 'local', command: [] }],
  [{ pool: 'local', command: [''] }],
  [{ pool: 'local', command: ['a\0'] }],
  [{ pool: 'local', command: 'true' }],
  [{ pool: 'local', command: ['true'], retries: 1 }],
  [{ pool: 'local' }],
  [[{ pool: 'local', command: ['true'] }]],
  [null],
])('leaves %j to the schema', (sent) => {
  expect(plain(sent)).toBeUndefined();
});

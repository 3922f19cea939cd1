import { expect, it } from 'vitest';
import { makeRedactor } from './redact.ts';

it('hides a known secret wherever it stands in a text', () => {
  const redactor = makeRedactor(['s3cr3t-value']);

  expect(redactor.text('call to https://x/?a=s3cr3t-value failed: s3cr3t-value')).not.toContain('s3cr3t');
});

it('hides a secret that was learned later', () => {
  const redactor = makeRedactor();
  expect(redactor.text('launch 0123456789abcdef')).toContain('0123456789abcdef');

  redactor.learn('0123456789abcdef');

  expect(redactor.text('launch 0123456789abcdef')).toBe('launch [hidden]');
});

it.each([
  'Authorization: Bearer abc.DEF-123',
  'api_token=abc',
  'postgres://muster:abc@db/x',
  "password: 'hunter22222'",
  '{"client_secret":"abc"}',
  '{"client_secret": "abc, it\'s \\"abc\\" abc"}',
  String.raw`said {\"access_token\":\"abc abc\"}`,
  'x-api-key: abc12345678',
  'secretAccessKey=abc',
  'clientSecret: abc12345678',
  "{'apiToken': 'abc'}",
  'password="abc abc"',
  'SECRET_KEY=abc',
])('hides what looks like a secret in a text: %s', (text) => {
  const shown = makeRedactor().text(text);

  expect(shown).toContain('[hidden]');
  expect(shown).not.toMatch(/abc|hunter/);
});

it.each(['mat', 'mlt', 'mjt'])(
  'hides a token of its own that begins with %s_, though nothing says what it is',
  (kind) => {
    const token = `${kind}_1m7rs6g6n0000npkz0_vQ-x`;

    expect(makeRedactor().text(`bad script: [${token}]`)).toBe('bad script: [[hidden]]');
  },
);

it.each(['The token: expired a day ago.', 'Check the key: it does not exist.', 'at 10:30 tokens were refused'])(
  'leaves sentences as they are: %s',
  (text) => {
    expect(makeRedactor().text(text)).toBe(text);
  },
);

it('hides of a quoted secret all, and what stands beside it not', () => {
  const { text } = makeRedactor();

  expect(text('{"user":"me","password":"a b","pool":"gpu"}')).toBe('{"user":"me","password":"[hidden]","pool":"gpu"}');
  expect(text(`login user=me password='a "b' host=db`)).toBe(`login user=me password='[hidden]' host=db`);
});

// With a look at every beginning again, each of these takes from many seconds to minutes.
it.each(['a-', 'a.', 'a_', 'token:', 'token="', 'token ', 'aToken', 'x://', 'x://a:', 'Bearer', 'mlt_'])(
  'reads a long text in no time, though %s may begin a secret everywhere in it',
  (beginning) => {
    const long = beginning.repeat(200_000 / beginning.length);

    expect(makeRedactor().text(`${long}token", at last`).endsWith(', at last')).toBe(true);
  },
);

it('hides fields by their name, in every spelling and at every depth', () => {
  const fields = {
    pool: 'gpu',
    apiToken: 'a',
    backend: { ssh_private_key: 'b', monkey: 'stays', list: [{ Authorization: 'c' }] },
    secrets: ['d'],
    hasToken: true,
  };

  const shown = makeRedactor().fields(fields);

  expect(shown).toEqual({
    pool: 'gpu',
    apiToken: '[hidden]',
    backend: { ssh_private_key: '[hidden]', monkey: 'stays', list: [{ Authorization: '[hidden]' }] },
    secrets: '[hidden]',
    hasToken: true,
  });
});

it('hides known values inside fields of harmless names, and survives a circle', () => {
  const circle: Record<string, unknown> = { message: 'said planted-secret aloud' };
  circle.self = circle;

  const shown = makeRedactor(['planted-secret']).fields(circle);

  expect(shown).toEqual({ message: 'said [hidden] aloud', self: '[circular]' });
});

it('shows of an error its message, and of bytes only how many', () => {
  const shown = makeRedactor(['planted-secret']).fields({
    error: new Error('said planted-secret'),
    data: new TextEncoder().encode('planted-secret'),
  });

  expect(shown).toEqual({ error: 'said [hidden]', data: '[14 bytes]' });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { sessionEnv } from './session-env.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-env-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (text: string): string => {
  const path = join(folder, 'env');
  writeFileSync(path, text);
  return path;
};
const variable = (name: string) => ({ TOKEN: 's3cret', EMPTY: '' })[name];

it('takes values as they stand, or from the environment of the caller', () => {
  expect(sessionEnv({ env: ['A=1', 'B=x=y', 'TOKEN', 'EMPTY'] }, variable)).toEqual({
    A: '1',
    B: 'x=y',
    TOKEN: 's3cret',
    EMPTY: '',
  });
  expect(sessionEnv({}, variable)).toBeUndefined();
});

it('reads files line by line; the command line wins over them', () => {
  const path = file('# secrets\n\nTOKEN\nQUOTED="as it stands" \n  A=file\r\n');

  expect(sessionEnv({ envFile: [path], env: ['A=here'] }, variable)).toEqual({
    TOKEN: 's3cret',
    QUOTED: '"as it stands" ',
    A: 'here',
  });
});

it.each([
  [{ env: ['UNSET'] }, 'the variable UNSET is not set here'],
  [{ env: ['=x'] }, 'no name'],
  [{ envFile: ['/no/such/file'] }, 'cannot be read'],
])('says what is wrong with %j', (options, message) => {
  expect(() => sessionEnv(options, variable)).toThrow(message);
});

it('names the line of a file that is wrong', () => {
  const path = file('A=1\nUNSET\n');

  expect(() => sessionEnv({ envFile: [path] }, variable)).toThrow(`${path}:2: the variable UNSET is not set here.`);
});

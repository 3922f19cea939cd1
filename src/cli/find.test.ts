import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADDRESSES_FOLDER, AUTHORITY_FILE, findServer, SERVER_FILE, TOKEN_FILE } from './find.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'muster-find-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** What a server or a standby of that data directory leaves. */
function serves(listening: string, ...http: string[]): void {
  mkdirSync(join(dataDir, ADDRESSES_FOLDER), { recursive: true });
  writeFileSync(join(dataDir, ADDRESSES_FOLDER, `${listening}.json`), JSON.stringify({ http }));
}

const nothing = { address: undefined, token: undefined };

test('an option beats the environment, which beats the files of a running server', () => {
  writeFileSync(join(dataDir, SERVER_FILE), '{"http":"http://127.0.0.1:9000"}');
  writeFileSync(join(dataDir, TOKEN_FILE), 'from-file\n');
  const environment = { address: 'http://from-env', token: 'from-env', dataDir };

  const byOption = findServer({ address: 'http://asked', token: 'asked' }, environment);
  const byEnvironment = findServer({}, environment);
  const byFile = findServer({}, { ...nothing, dataDir });

  expect([byOption.address, byOption.token]).toEqual(['http://asked', 'asked']);
  expect([byEnvironment.address, byEnvironment.token]).toEqual(['http://from-env', 'from-env']);
  expect([byFile.address, byFile.token]).toEqual(['http://127.0.0.1:9000', 'from-file']);
  expect(byFile.why).toContain(SERVER_FILE);
});

test('without anything it is the default; a file that says nothing counts as none', () => {
  writeFileSync(join(dataDir, SERVER_FILE), 'half a fi');

  expect(findServer({}, { ...nothing, dataDir })).toMatchObject({ address: 'http://127.0.0.1:8081', token: undefined });
});

test('an address may be written without its scheme', () => {
  expect(findServer({ address: '127.0.0.1:9000' }, { ...nothing, dataDir }).address).toBe('http://127.0.0.1:9000');
});

test('the authority that a server left is trusted; one that was named must be there', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----';
  writeFileSync(join(dataDir, 'other.pem'), pem);

  const none = findServer({}, { ...nothing, dataDir });
  writeFileSync(join(dataDir, AUTHORITY_FILE), 'left');
  const left = findServer({}, { ...nothing, dataDir });
  const named = findServer({ ca: join(dataDir, 'other.pem') }, { ...nothing, ca: '/nowhere', dataDir });

  expect([none.ca, left.ca, named.ca]).toEqual([undefined, 'left', pem]);
  expect(() => findServer({ ca: '/nowhere' }, { ...nothing, dataDir })).toThrow(
    '/nowhere contains no readable certificate',
  );
});

test('an address that is none is refused, with where it came from', () => {
  const ask = () => findServer({}, { ...nothing, address: 'here:there', dataDir });

  expect(ask).toThrow('here:there (from MUSTER_ADDRESS) is not a valid server address.');
});

test('a token that the server leaves only now is found when asked for again; one that was named stays', () => {
  const found = findServer({}, { ...nothing, dataDir });
  writeFileSync(join(dataDir, TOKEN_FILE), 'left late\n');
  const ofNobody = found.tokenAgain?.();
  serves('127.0.0.1:8081', 'http://127.0.0.1:8081');

  expect([found.token, ofNobody, found.tokenAgain?.()]).toEqual([undefined, undefined, 'left late']);
  expect(findServer({ token: 'asked' }, { ...nothing, dataDir }).tokenAgain).toBeUndefined();
});

test.each(['two words', 'one\ntwo', 'caf\u00e9', 'a\u0000b'])(
  'a token such as %j is refused without being shown',
  (token) => {
    const ask = () => findServer({ token }, { ...nothing, dataDir });

    expect(ask).toThrow(/^The token contains invalid characters\.$/);
    expect(ask).toThrow(expect.objectContaining({ kind: 'unauthenticated' }));
  },
);

test('a token may have blanks around it, as `cat` of a file leaves them', () => {
  expect(findServer({}, { ...nothing, token: ' asked\n', dataDir }).token).toBe('asked');
});

test.each(['ftp://x', 'file:///x', 'HTTPX://x'])('the address %s is refused: only HTTP is spoken', (address) => {
  expect(() => findServer({ address }, { ...nothing, dataDir })).toThrow('is not a valid server address.');
});

test('a data directory whose server has ended is not taken for that of another', () => {
  writeFileSync(join(dataDir, TOKEN_FILE), 'left');
  const ask = (options: { address?: string; token?: string }) => findServer(options, { ...nothing, dataDir });

  expect(() => ask({})).toThrow(`The server of ${dataDir} is not running.`);
  expect(() => ask({})).toThrow(expect.objectContaining({ kind: 'unavailable' }));
  expect(ask({ address: 'http://other' }).address).toBe('http://other');
  expect(ask({ token: 'mine' }).address).toBe('http://127.0.0.1:8081');
});

test.each([
  ['http://evil.example', 'another machine'],
  ['http://127.0.0.1:8082', 'another port of this machine'],
  ['http://127.0.0.2:8081', 'another address of this machine'],
  ['https://127.0.0.1:8081', 'another scheme'],
  ['http://user@127.0.0.1:8082', 'another port, with a user name in front'],
])('the token of a data directory does not go to %s: %s', (address) => {
  writeFileSync(join(dataDir, TOKEN_FILE), 'secret');
  writeFileSync(join(dataDir, SERVER_FILE), '{"http":"http://127.0.0.1:8081"}');
  serves('127.0.0.1:8081', 'http://127.0.0.1:8081');
  const ask = (options: { address?: string }, around: { address?: string }) =>
    findServer(options, { ...nothing, ...around, dataDir });

  for (const found of [ask({ address }, {}), ask({}, { address })]) {
    expect([found.token, found.tokenAgain?.()]).toEqual([undefined, undefined]);
    expect(found.whyNoToken).toBe(
      `MUSTER_TOKEN is not set, and the token in the data directory ${dataDir} is only for the server of that directory.`,
    );
  }
});

test('the token of a data directory goes to each replica that uses it, however its address is written', () => {
  writeFileSync(join(dataDir, TOKEN_FILE), 'secret');
  serves('127.0.0.1:8081', 'http://127.0.0.1:8081', 'https://muster.lab');
  serves('0.0.0.0:9081', 'https://10.0.0.7:9081', 'https://[::1]:9081');
  const asked = (address: string) => {
    const found = findServer({ address }, { ...nothing, dataDir });
    return [found.address, found.token];
  };

  expect(asked('127.0.0.1:8081')).toEqual(['http://127.0.0.1:8081', 'secret']);
  expect(asked('HTTPS://Muster.Lab:443/')).toEqual(['https://muster.lab', 'secret']);
  expect(asked('https://10.0.0.7:9081')).toEqual(['https://10.0.0.7:9081', 'secret']);
  expect(asked('http://10.0.0.7:9081')).toEqual(['http://10.0.0.7:9081', undefined]);
});

test('`localhost` is called by the number at which the server listens: the name may lead to another program', () => {
  writeFileSync(join(dataDir, TOKEN_FILE), 'secret');
  serves('127.0.0.1:8081', 'http://127.0.0.1:8081');
  serves('[::1]:9081', 'http://[::1]:9081');
  const asked = (address: string) => {
    const found = findServer({ address }, { ...nothing, dataDir });
    return [found.address, found.token];
  };

  expect(asked('localhost:8081')).toEqual(['http://127.0.0.1:8081', 'secret']);
  expect(asked('http://localhost:9081')).toEqual(['http://[::1]:9081', 'secret']);
  expect(asked('http://localhost:7081')).toEqual(['http://localhost:7081', undefined]);
});

test('without any token it says where it looked', () => {
  expect(findServer({}, { ...nothing, dataDir }).whyNoToken).toBe(
    `MUSTER_TOKEN is not set, and there is none in the data directory ${dataDir}.`,
  );
});

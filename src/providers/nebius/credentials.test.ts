import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import { H200, type NebiusScene, openBackend, openScene } from './fake/testing.ts';

const { iamToken: _token, ...BARE } = H200;

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** As `nebius iam auth-public-key generate` writes it. */
const keyFile = (kid = 'publickey-1', more: object = {}): string => {
  const account = { type: 'JWT', alg: 'RS256', 'private-key': privateKey, kid, iss: 'sa-1', sub: 'sa-1' };
  return JSON.stringify({ 'subject-credentials': { ...account, ...more } });
};

function sceneWithKey(): NebiusScene {
  const scene = openScene();
  scene.fake.tokens.addKey('publickey-1', 'sa-1', publicKey);
  return scene;
}

function written(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'nebius-key-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'key.json');
  writeFileSync(path, text);
  return path;
}

async function faultOfListing(scene: NebiusScene, config: object, variables: Readonly<Record<string, string>> = {}) {
  const context = scene.contextFor('cluster1', variables);
  const listing = async () => (await openBackend(scene, config, context)).list(going());
  return scene.during(listing().then(() => undefined, Fault.from));
}

const tokensUsed = ({ fake }: NebiusScene) =>
  new Set(fake.calls.filter(({ action }) => action === 'list').map(({ token }) => token));

it('the key of a service account is exchanged once, and again before its token expires', async () => {
  const scene = sceneWithKey();
  const backend = await openBackend(scene, { ...BARE, serviceAccountKey: keyFile() });
  for (let hours = 0; hours < 15; hours++) {
    await scene.during(backend.list(going()));
    await scene.clock.advance(HOUR_MS);
  }

  expect(scene.fake.countOf('exchange')).toBe(2);
  expect(tokensUsed(scene)).toEqual(new Set(['token-of-sa-1-1', 'token-of-sa-1-2']));
});

it('a token that Nebius refuses is not used again', async () => {
  const scene = sceneWithKey();
  const backend = await openBackend(scene, { ...BARE, serviceAccountKey: keyFile() });
  await scene.during(backend.list(going()));
  scene.fake.tokens.revoked.add('token-of-sa-1-1');
  const refused = await scene.during(backend.list(going()).catch((thrown) => Fault.from(thrown)));
  await scene.during(backend.list(going()));

  expect(refused).toMatchObject({ kind: 'unauthenticated' });
  expect(tokensUsed(scene)).toEqual(new Set(['token-of-sa-1-1', 'token-of-sa-1-2']));
});

it('the key may be in a file that a variable names; a token in a variable wins over it, and one that is configured over both', async () => {
  const scene = sceneWithKey();
  for (const token of ['own', 'ours']) scene.fake.tokens.known.add(token);
  const variables = { NEBIUS_SERVICE_ACCOUNT_KEY: written(keyFile()) };
  const list = async (config: object, more: Readonly<Record<string, string>>) =>
    scene.during((await openBackend(scene, config, scene.contextFor('cluster1', more))).list(going()));
  await list({ ...BARE, iamToken: 'own' }, { ...variables, NEBIUS_IAM_TOKEN: 'ours' });
  await list(BARE, { ...variables, NEBIUS_IAM_TOKEN: 'ours' });
  // Files are read in real time.
  const backend = await openBackend(scene, BARE, scene.contextFor('cluster1', variables));
  await backend.list(going());

  expect([...tokensUsed(scene)]).toEqual(['own', 'ours', 'token-of-sa-1-1']);
});

it.each([
  ['no JSON', 'x'],
  ['something else', '{"private_key": "x"}'],
  ['half a key', keyFile('publickey-1', { 'private-key': privateKey.slice(0, 200) })],
])('credentials that are %s are refused without showing them', async (_what, serviceAccountKey) => {
  const fault = await faultOfListing(sceneWithKey(), { ...BARE, serviceAccountKey });

  expect(fault).toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('service_account_key holds no key'),
  });
  expect(`${fault?.message} ${fault?.remedy} ${String(fault?.cause)}`).not.toContain(privateKey.slice(60, 100));
});

it('a key that Nebius does not know is refused as what it is, without a call of the API', async () => {
  const scene = sceneWithKey();
  const fault = await faultOfListing(scene, { ...BARE, serviceAccountKey: keyFile('publickey-9') });

  expect(fault).toMatchObject({ kind: 'unauthenticated' });
  expect(scene.fake.countOf('list')).toBe(0);
});

it('without credentials says which variables to set, and with an address that is none so too', async () => {
  const scene = openScene();
  const bare = await faultOfListing(scene, BARE);
  const there = await faultOfListing(scene, H200, { NEBIUS_ENDPOINT: 'a b' });

  expect(bare).toMatchObject({
    kind: 'unauthenticated',
    remedy: expect.stringMatching(/NEBIUS_IAM_TOKEN.*NEBIUS_SERVICE_ACCOUNT_KEY/),
  });
  expect(there).toMatchObject({ kind: 'invalid' });
});

it('is asked where the operator or the environment says: an address for all services, or a domain', async () => {
  const scene = openScene();
  const hostOf = async (config: object, variables: Readonly<Record<string, string>> = {}) =>
    (await openBackend(scene, config, scene.contextFor('cluster1', variables))).cloud.split(':').slice(1, -1).join(':');

  expect(await hostOf(H200)).toBe('api.nebius.cloud');
  expect(await hostOf(H200, { NEBIUS_ENDPOINT: 'api.example.com:443' })).toBe('api.example.com');
  expect(await hostOf(H200, { NEBIUS_ENDPOINT: 'http://127.0.0.1:4569' })).toBe('127.0.0.1:4569');
  expect(await hostOf({ ...H200, endpoint: 'https://proxy.example' }, { NEBIUS_ENDPOINT: 'x.y' })).toBe(
    'proxy.example',
  );
});

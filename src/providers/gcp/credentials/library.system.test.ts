import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { going } from '#core/testing/going.ts';
import { openSceneOf } from '../../../conformance/scene.ts';
import { openFakeGcp } from '../fake/fake-gcp.ts';
import { defaultCredentials } from './default.ts';

const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';

const ends: (() => void)[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const end of ends.splice(0)) end();
});

function openFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'muster-gcp-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return (name: string, content: object): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
}

/** The token that the credentials in a file come to, and whose it is. */
async function granted(type: string, source: object) {
  const scene = openSceneOf(openFakeGcp);
  scene.fake.world.subjectTokens.set('AKIDEXAMPLE', 'principal://aws').set('subject-1', 'principal://program');
  const file = openFiles()('key.json', {
    type: 'external_account',
    audience: AUDIENCE,
    subject_token_type: type,
    token_url: 'https://sts.googleapis.com/v1/token',
    credential_source: source,
  });
  const context = scene.contextFor('cluster1', { GOOGLE_APPLICATION_CREDENTIALS: file });
  const { value } = await defaultCredentials(context)(going());
  return scene.fake.world.granted.whose(value);
}

it('an external account of AWS gets a token by a request that AWS can check', async () => {
  vi.stubEnv('AWS_REGION', 'us-west-2');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const source = {
    environment_id: 'aws1',
    regional_cred_verification_url: 'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
  };

  expect(await granted('urn:ietf:params:aws:token-type:aws4_request', source)).toBe('principal://aws');
});

it('an external account whose token a program prints gets one where the operator allows programs', async () => {
  const printed = { version: 1, success: true, token_type: JWT, id_token: 'subject-1', expiration_time: 4_102_444_800 };
  const command = `/bin/cat ${openFiles()('printed.json', printed)}`;

  await expect(granted(JWT, { executable: { command } })).rejects.toMatchObject({
    kind: 'unauthenticated',
    remedy: expect.stringContaining('GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1'),
  });
  vi.stubEnv('GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES', '1');
  expect(await granted(JWT, { executable: { command } })).toBe('principal://program');
});

it('an external account with a certificate that is not there says so', async () => {
  const certificate = { certificate_config_location: '/nowhere/certificate_config.json' };

  await expect(granted('urn:ietf:params:oauth:token-type:mtls', { certificate })).rejects.toMatchObject({
    kind: 'unauthenticated',
    message: expect.stringContaining('/nowhere/certificate_config.json'),
  });
});

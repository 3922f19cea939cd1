import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openDefaultCluster } from './default-cluster.ts';
import { openInCluster } from './in-cluster.ts';
import { openKubeconfig } from './kubeconfig.ts';

const ROOT = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
afterAll(() => rmSync(ROOT, { recursive: true, force: true }));

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function aConfig(name: string, user: object, cluster: object = {}, context: object = {}) {
  return {
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name, ...context } }],
    clusters: [{ name, cluster: { server: `https://${name}.test:6443/`, ...cluster } }],
    users: [{ name, user }],
  };
}

let written = 0;
function write(config: unknown, path = join(ROOT, `config-${written++}`)): string {
  // As careful programs do it, and so that a reader never sees half of it.
  writeFileSync(`${path}.new`, typeof config === 'string' ? config : stringify(config));
  renameSync(`${path}.new`, path);
  return path;
}

function setUp() {
  const clock = new VirtualClock();
  const lines: string[] = [];
  return {
    clock,
    lines,
    log: (_: string, message: string, fields?: object) => void lines.push(message + JSON.stringify(fields)),
  };
}

const faultOf = async (call: Promise<unknown>): Promise<Fault> =>
  call.then(
    () => undefined as never,
    (thrown) => thrown,
  );

describe('a kubeconfig', () => {
  it('gives address, trust and credential of its context, from data or from files beside it', async () => {
    writeFileSync(join(ROOT, 'ca.pem'), 'the ca');
    writeFileSync(join(ROOT, 'client.pem'), 'wrong');
    const path = write(
      aConfig(
        'dev',
        {
          'client-certificate': 'client.pem',
          'client-certificate-data': base64('the cert'),
          'client-key-data': base64('the key'),
        },
        { 'certificate-authority': 'ca.pem', 'tls-server-name': 'inner.test', server: 'https://dev.test/k8s/1' },
        { namespace: 'ml' },
      ),
    );
    const access = await openKubeconfig({ paths: [path] }, setUp());

    expect(access).toMatchObject({ id: 'https://dev.test/k8s/1', server: 'https://dev.test/k8s/1', namespace: 'ml' });
    expect(await access.credential(going())).toEqual({
      headers: {},
      tls: { ca: 'the ca', cert: 'the cert', key: 'the key', serverName: 'inner.test', isInsecure: undefined },
    });
  });

  it.each([
    [{ token: 't1' }, { authorization: 'Bearer t1' }],
    [{ username: 'u', password: 'p' }, { authorization: `Basic ${base64('u:p')}` }],
    [
      { token: 't1', as: 'system:x', 'as-groups': ['g'] },
      { authorization: 'Bearer t1', 'impersonate-user': 'system:x', 'impersonate-group': 'g' },
    ],
    [{}, {}],
  ])('logs in as its user %# says', async (user, headers) => {
    const access = await openKubeconfig({ paths: [write(aConfig('dev', user))] }, setUp());

    expect((await access.credential(going())).headers).toEqual(headers);
  });

  it('skips the check of the certificate only where it says so', async () => {
    const path = write(
      aConfig('dev', {}, { 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64('x') }),
    );
    const access = await openKubeconfig({ paths: [path] }, setUp());

    expect((await access.credential(going())).tls).toMatchObject({ isInsecure: true, ca: undefined });
  });

  it('is merged from several files: the first to name something wins, absent files are passed over', async () => {
    const first = write({ ...aConfig('a', { token: 'of-first' }), 'current-context': '' });
    const second = write({ ...aConfig('a', { token: 'of-second' }), 'current-context': 'a' });
    const third = write(aConfig('b', { token: 'b' }));
    const paths = [join(ROOT, 'absent'), first, second, third];
    const current = await openKubeconfig({ paths }, setUp());
    const named = await openKubeconfig({ paths, context: 'b' }, setUp());

    expect((await current.credential(going())).headers).toEqual({ authorization: 'Bearer of-first' });
    expect(named.server).toBe('https://b.test:6443');
  });

  it('names the nearest context where the one that is wanted does not exist', async () => {
    const path = write(aConfig('production', {}));
    const fault = await faultOf(openKubeconfig({ paths: [path], context: 'prodcution' }, setUp()));

    expect([fault.kind, fault.message, fault.remedy]).toEqual([
      'invalid',
      `The kubeconfig ${path} has no context prodcution.`,
      'Did you mean production?',
    ]);
  });

  it.each([
    ['auth-provider', aConfig('x', { 'auth-provider': { name: 'gcp' } }), 'unsupported', 'gke-gcloud-auth-plugin'],
    ['a wrong proxy-url', aConfig('x', {}, { 'proxy-url': 'ftp://proxy' }), 'invalid', 'proxy-url'],
    ['no address', aConfig('x', {}, { server: 'dev.test' }), 'invalid', 'https://host:port'],
    ['several groups', aConfig('x', { 'as-groups': ['a', 'b'] }), 'unsupported', 'groups'],
    ['no context', { clusters: [] }, 'invalid', 'use-context'],
    ['a wrong field', { clusters: [{ name: 1 }] }, 'invalid', 'kubectl config view'],
  ])('with %s is refused, and says what to do instead', async (_, config, kind, remedy) => {
    const fault = await faultOf(openKubeconfig({ paths: [write(config)] }, setUp()));

    expect(fault.kind).toBe(kind);
    expect(fault.remedy).toContain(remedy);
  });

  it('that is no YAML is refused without a word of what stands in it', async () => {
    const path = write('users:\n  - token: "planted-secret\n clusters: [');
    const fault = await faultOf(openKubeconfig({ paths: [path] }, setUp()));

    expect(fault.message).toContain(path);
    expect(fault.message).not.toContain('planted-secret');
  });

  it('is read again when it changes, and token files too; the access stays the same', async () => {
    const token = join(ROOT, 'token');
    writeFileSync(token, 'f1\n');
    const deps = setUp();
    const path = write(aConfig('dev', { token: 't1' }));
    const access = await openKubeconfig({ paths: [path] }, deps);
    const seen = async (): Promise<string | undefined> => (await access.credential(going())).headers.authorization;
    const before = await access.credential(going());
    await deps.clock.advance(3_000);

    expect(await access.credential(going())).toBe(before);
    write(aConfig('dev', { token: 'ignored', tokenFile: 'token' }), path);
    await deps.clock.advance(3_000);
    expect(await seen()).toBe('Bearer f1');
    writeFileSync(token, 'f2-longer\n');
    access.refused?.();
    expect(await seen()).toBe('Bearer f2-longer');
    expect(access.id).toBe('https://dev.test:6443');
  });

  it('that cannot be read for a while serves as it was; the log says so once', async () => {
    const deps = setUp();
    const path = write(aConfig('dev', { token: 't1' }));
    const access = await openKubeconfig({ paths: [path] }, deps);
    rmSync(path);
    for (let at = 0; at < 3; at++) {
      await deps.clock.advance(3_000);
      expect((await access.credential(going())).headers).toEqual({ authorization: 'Bearer t1' });
    }

    expect(deps.lines).toHaveLength(1);
  });

  it('never leads to another cluster later: a new current context is none of our business, a new address is a fault', async () => {
    const deps = setUp();
    const other = aConfig('other', { token: 'o' });
    const dev = aConfig('dev', { token: 't1' });
    const path = write(dev);
    const access = await openKubeconfig({ paths: [path] }, deps);
    const both = {
      'current-context': 'other',
      contexts: [...dev.contexts, ...other.contexts],
      clusters: [...dev.clusters, ...other.clusters],
      users: [...dev.users, ...other.users],
    };
    write(both, path);
    await deps.clock.advance(3_000);
    expect((await access.credential(going())).headers).toEqual({ authorization: 'Bearer t1' });

    write(aConfig('dev', { token: 't1' }, { server: 'https://elsewhere.test' }), path);
    await deps.clock.advance(3_000);
    expect((await faultOf(access.credential(going()))).message).toContain('no longer names https://dev.test:6443');
  });
});

describe('the cluster that we run in', () => {
  const inside = (name: string): string | undefined =>
    ({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' })[name];

  it('is known by the environment and the mounted service account, whose token rotates', async () => {
    const folder = mkdtempSync(join(ROOT, 'account-'));
    for (const [name, text] of [
      ['token', 't1\n'],
      ['ca.crt', 'the ca'],
      ['namespace', 'muster'],
    ] as const)
      writeFileSync(join(folder, name), text);
    const deps = setUp();
    const access = await openInCluster({ variable: inside, folder }, deps);
    writeFileSync(join(folder, 'token'), 'rotated');

    expect(access).toMatchObject({ server: 'https://[fd00::1]:6443', namespace: 'muster' });
    await deps.clock.advance(3_000);
    expect(await access.credential(going())).toEqual({
      headers: { authorization: 'Bearer rotated' },
      tls: { ca: 'the ca' },
    });
  });

  it('is refused with what is missing', async () => {
    const none = await faultOf(openInCluster({ variable: () => undefined }, setUp()));
    const folder = mkdtempSync(join(ROOT, 'account-'));
    const noToken = await faultOf(openInCluster({ variable: inside, folder }, setUp()));

    expect(none.message).toContain('KUBERNETES_SERVICE_HOST');
    expect([noToken.message, noToken.remedy]).toEqual([
      `The service account has no token in ${folder}.`,
      'Set automountServiceAccountToken in the spec of our pod to true.',
    ]);
  });
});

describe('the cluster where none is named', () => {
  function choose(variables: Record<string, string>, choice = {}) {
    return openDefaultCluster(choice, {
      ...setUp(),
      variable: (name) => variables[name],
      serviceAccountFolder: join(ROOT, 'sa'),
    });
  }

  it('is the one of the file, of KUBECONFIG, of the home folder, or the one that we run in, in this order', async () => {
    const home = mkdtempSync(join(ROOT, 'home-'));
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(home, '.kube'));
    mkdirSync(join(ROOT, 'sa'));
    for (const name of ['token', 'ca.crt']) writeFileSync(join(ROOT, 'sa', name), 'x');
    write(aConfig('home', {}), join(home, '.kube', 'config'));
    const kubeconfig = write(aConfig('named', {}));
    const listed = write(aConfig('listed', {}));
    const inside = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
    const all = { ...inside, HOME: home, KUBECONFIG: `${join(ROOT, 'absent')}:${listed}` };

    expect((await choose(all, { kubeconfig })).server).toBe('https://named.test:6443');
    expect((await choose(all)).server).toBe('https://listed.test:6443');
    expect((await choose({ ...inside, HOME: home })).server).toBe('https://home.test:6443');
    expect((await choose({ ...inside, HOME: ROOT })).server).toBe('https://10.0.0.1:443');
    expect((await choose({ HOME: home }, { kubeconfig: '~/.kube/config' })).server).toBe('https://home.test:6443');
  });

  it('is missing with all that was looked for', async () => {
    const fault = await faultOf(choose({ HOME: '/nowhere' }));

    expect(fault.message).toBe(
      'No Kubernetes cluster was found. Looked for: KUBECONFIG (not set); /nowhere/.kube/config (no such file); the cluster of this pod (KUBERNETES_SERVICE_HOST is not set).',
    );
  });
});

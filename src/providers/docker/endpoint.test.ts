import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type EndpointConfig, endpointOf } from './endpoint.ts';
import { registryOf, storedLogin } from './registry-login.ts';

type Texts = Readonly<Record<string, string>>;

const depsOf = (variables: Texts = {}, files: Texts = {}) => ({
  variable: (name: string) => ({ HOME: '/home/op', ...variables })[name],
  readFile: (path: string) => files[path],
});
const found = (config: EndpointConfig, variables: Texts = {}, files: Texts = {}) =>
  endpointOf(config, depsOf(variables, files));

const META = `/home/op/.docker/contexts/meta/${hash('sha256', 'far')}/meta.json`;
const TLS = `/home/op/.docker/contexts/tls/${hash('sha256', 'far')}/docker`;
const CONTEXT = {
  [META]: JSON.stringify({ Name: 'far', Endpoints: { docker: { Host: 'tcp://far:2376', SkipTLSVerify: false } } }),
  [`${TLS}/ca.pem`]: 'CA',
  [`${TLS}/cert.pem`]: 'CERT',
  [`${TLS}/key.pem`]: 'KEY',
};
const CURRENT = { ...CONTEXT, '/home/op/.docker/config.json': '{"currentContext":"far"}' };

describe('the engine that is meant', () => {
  it.each<readonly [string, EndpointConfig, Texts, Texts, string]>([
    ['the usual socket', {}, {}, {}, 'unix:///var/run/docker.sock'],
    ['DOCKER_HOST', {}, { DOCKER_HOST: 'unix:///run/user/1000/docker.sock' }, {}, 'unix:///run/user/1000/docker.sock'],
    [
      'DOCKER_HOST before DOCKER_CONTEXT',
      {},
      { DOCKER_HOST: 'tcp://a:1', DOCKER_CONTEXT: 'far' },
      CONTEXT,
      'tcp://a:1',
    ],
    ['DOCKER_CONTEXT', {}, { DOCKER_CONTEXT: 'far' }, CONTEXT, 'tcp://far:2376'],
    ['the current context', {}, {}, CURRENT, 'tcp://far:2376'],
    [
      'the context of the pool before DOCKER_HOST',
      { context: 'far' },
      { DOCKER_HOST: 'tcp://a:1' },
      CONTEXT,
      'tcp://far:2376',
    ],
    ['the context `default`', { context: 'default' }, {}, CURRENT, 'unix:///var/run/docker.sock'],
    ['the host of the pool before all', { host: 'tcp://b:2' }, { DOCKER_HOST: 'tcp://a:1' }, CURRENT, 'tcp://b:2'],
  ])('is %s', (_what, config, variables, files, address) => {
    expect(found(config, variables, files).address).toBe(address);
  });

  it('is reached by its socket, whatever the address of a request says', () => {
    expect(found({ host: 'unix:///tmp/d.sock' })).toMatchObject({
      reach: { socketPath: '/tmp/d.sock' },
      isLocal: true,
    });
  });

  it.each([
    ['tcp://build', 'http://build:2375', false],
    ['tcp://build:80', 'http://build:80', false],
    ['tcp://127.0.0.1:4243', 'http://127.0.0.1:4243', true],
    ['tcp://[::1]:4243', 'http://[::1]:4243', true],
    ['https://proxy.example/docker/', 'https://proxy.example:2376/docker', false],
  ])('at %s is asked at %s', (host, base, isLocal) => {
    expect(found({ host })).toMatchObject({ base, isLocal });
  });

  it('has the certificates of its context', () => {
    expect(found({ context: 'far' }, {}, CONTEXT)).toMatchObject({
      base: 'https://far:2376',
      reach: { ca: 'CA', cert: 'CERT', key: 'KEY' },
    });
  });

  it('has those of DOCKER_CERT_PATH where DOCKER_TLS_VERIFY is set, and of cert_path for a host of its own', () => {
    const files = { '/certs/ca.pem': 'CA', '/certs/cert.pem': 'CERT', '/certs/key.pem': 'KEY' };
    const variables = { DOCKER_HOST: 'tcp://far', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/certs' };
    const expected = { base: 'https://far:2376', reach: { ca: 'CA', cert: 'CERT', key: 'KEY' } };

    expect(found({}, variables, files)).toMatchObject(expected);
    expect(found({ host: 'tcp://far', certPath: '/certs' }, {}, files)).toMatchObject(expected);
    expect(found({ host: 'tcp://far' }, variables, files)).toMatchObject({ base: 'http://far:2375', reach: {} });
  });

  it.each<readonly [EndpointConfig, Texts, string]>([
    [{ context: 'near' }, {}, 'There is no context "near" for the docker command of this user.'],
    [{ host: 'tcp://far', certPath: '/none' }, {}, 'There is neither ca.pem nor cert.pem in /none.'],
    [{}, { DOCKER_HOST: 'ssh://root@far' }, 'An engine at ssh://root@far cannot be reached from here.'],
  ])('%j is refused', (config, variables, message) => {
    expect(() => found(config, variables, CONTEXT)).toThrow(message);
  });
});

describe('a stored login', () => {
  const login = (image: string, config: object) =>
    storedLogin(image, depsOf({}, { '/home/op/.docker/config.json': JSON.stringify(config) }));
  const read = (header: string | undefined) => header && JSON.parse(Buffer.from(header, 'base64url').toString());

  it('belongs to the registry of the image', () => {
    const names = ['muster/agent', 'agent', 'ghcr.io/team/agent:1', 'localhost:5000/agent', 'localhost/agent'];
    const hub = 'https://index.docker.io/v1/';

    expect(names.map(registryOf)).toEqual([hub, hub, 'ghcr.io', 'localhost:5000', 'localhost']);
  });

  it('is shown as user and password, or as the token that a registry gave', () => {
    const auths = {
      'ghcr.io': { auth: Buffer.from('op:pass:word').toString('base64') },
      'r.example': { identitytoken: 'T' },
      'helped.example': {},
    };

    expect(read(login('ghcr.io/a/b', { auths }))).toEqual({
      username: 'op',
      password: 'pass:word',
      serveraddress: 'ghcr.io',
    });
    expect(read(login('r.example/a', { auths }))).toEqual({ identitytoken: 'T', serveraddress: 'r.example' });
    expect(login('helped.example/a', { auths })).toBeUndefined();
    expect(login('other.example/a', { auths })).toBeUndefined();
    expect(login('a/b', {})).toBeUndefined();
  });
});

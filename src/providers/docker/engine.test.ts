import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { endpointOf } from './endpoint.ts';
import { openEngine } from './engine.ts';
import { aBatch, going, openBackend, openScene, type Scene } from './fake/testing.ts';

const ENDPOINT = endpointOf({}, { variable: () => undefined, readFile: () => undefined });

const engineOf = (scene: Scene) => scene.during(openEngine(ENDPOINT, scene.contextFor(), going()));

/** What Node's `fetch` rejects with where a connection fails in that way. */
const failing =
  (code: string): typeof fetch =>
  () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(`connect ${code}`), { code }) }));

describe('an engine', () => {
  it.each([
    ['1.41', '/v1.41/'],
    ['1.44', '/v1.44/'],
    ['1.60', '/v1.47/'],
  ])('of API %s is asked at %s', async (apiVersion, prefix) => {
    const scene = openScene({ apiVersion });
    const urls: string[] = [];
    const context = { ...scene.contextFor(), fetchWith: () => listening };
    const listening: typeof fetch = (input, init) => {
      urls.push(new URL(String(input)).pathname);
      return scene.fake.fetch(input, init);
    };
    await scene.during(openEngine(ENDPOINT, context, going()));

    expect(urls).toEqual(['/version', `${prefix}info`]);
  });

  it('that is too old is refused', async () => {
    await expect(engineOf(openScene({ apiVersion: '1.40' }))).rejects.toMatchObject({
      kind: 'unsupported',
      remedy: 'Install Docker Engine 20.10 or newer.',
    });
  });

  it('is known by its address, since copies of a machine share the id of its engine', async () => {
    const scene = openScene();
    const [near, far] = [await openBackend(scene), await openBackend(scene, { host: 'tcp://far:2375' })];

    expect([near.cloud, far.cloud]).toEqual(['docker:unix:///var/run/docker.sock', 'docker:tcp://far:2375']);
  });

  it.each([
    ['ENOENT', 'the engine is not running: there is no such socket', 'sudo systemctl start docker'],
    ['ENOENT', 'the engine is not running: there is no such socket', 'sudo apt-get install docker.io'],
    ['ECONNREFUSED', 'the engine is not running', 'sudo systemctl start docker'],
    ['EACCES', 'the user of the server may not open the socket', 'sudo usermod -aG docker USER'],
  ])('that cannot be reached (%s) is named with the command that mends it', async (code, message, command) => {
    const scene = openScene();
    const context = { ...scene.contextFor(), fetchWith: () => failing(code) };
    const fault = await openEngine(ENDPOINT, context, going()).catch((thrown) => Fault.from(thrown));

    expect(fault).toMatchObject({ kind: 'unavailable', message: `Docker at unix:///var/run/docker.sock: ${message}.` });
    expect((fault as Fault).remedy).toContain(command);
  });

  it('of Docker Desktop lets containers reach a broker on loopback by its gateway', async () => {
    const scene = openScene({ operatingSystem: 'Docker Desktop' });
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(1, { broker: 'http://127.0.0.1:50051' }), going()));
    const [container] = scene.fake.containers;

    expect([...(container?.files.values() ?? [])].join()).toContain('address: http://host.docker.internal:50051');
    expect(container?.hostConfig.NetworkMode).toBeUndefined();
  });

  it('on this machine shares its network with containers whose broker is on loopback', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(1, { broker: 'http://127.0.0.1:50051' }), going()));

    expect(scene.fake.containers[0]?.hostConfig).toMatchObject({ NetworkMode: 'host' });
    expect(scene.fake.containers[0]?.hostConfig).not.toHaveProperty('ExtraHosts');
  });
});

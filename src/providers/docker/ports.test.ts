import { describe, expect, it } from 'vitest';
import type { Launch, Outcome } from '#core/provider.ts';
import { aBatch, existing, going, openBackend, openScene, type Scene } from './fake/testing.ts';

const withPort = (port?: number, launch = aBatch(1)): Launch => ({ ...launch, boot: { ...launch.boot, port } });

async function created(scene: Scene, config: object, launch: Launch): Promise<readonly Outcome[]> {
  const backend = await openBackend(scene, config);
  return scene.during(backend.create(launch, going()));
}

describe('a port', () => {
  it.each<readonly [object, number | undefined, object | undefined]>([
    [{}, undefined, undefined],
    [{}, 8000, { '8000/tcp': [{ HostIp: '127.0.0.1', HostPort: '8000' }] }],
    [{ ports: [8888] }, undefined, { '8888/tcp': [{ HostIp: '127.0.0.1', HostPort: '0' }] }],
    [{ ports: ['8080:80'] }, undefined, { '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '8080' }] }],
    [{ ports: ['0.0.0.0:8080:80'] }, undefined, { '80/tcp': [{ HostIp: '0.0.0.0', HostPort: '8080' }] }],
    [{ ports: ['[::1]:8080:80'] }, undefined, { '80/tcp': [{ HostIp: '::1', HostPort: '8080' }] }],
    [
      { ports: [{ container: 8000, bind: '0.0.0.0' }, 22] },
      8000,
      {
        '8000/tcp': [{ HostIp: '0.0.0.0', HostPort: '8000' }],
        '22/tcp': [{ HostIp: '127.0.0.1', HostPort: '0' }],
      },
    ],
    [{ ports: [{ container: 8000, host: 0 }] }, 8000, { '8000/tcp': [{ HostIp: '127.0.0.1', HostPort: '0' }] }],
    [
      { ports: [22] },
      8000,
      {
        '22/tcp': [{ HostIp: '127.0.0.1', HostPort: '0' }],
        '8000/tcp': [{ HostIp: '127.0.0.1', HostPort: '8000' }],
      },
    ],
  ])('of the configuration %j and of a launch, %s, is published as %j', async (config, port, bindings) => {
    const scene = openScene();
    await created(scene, config, withPort(port));
    const [container] = scene.fake.containers;

    expect(container?.hostConfig.PortBindings).toEqual(bindings);
    expect(Object.keys((container?.config.ExposedPorts ?? {}) as object)).toEqual(Object.keys(bindings ?? {}));
  });

  it('cannot be published where the broker is reached from the network of the machine alone, and that is said', async () => {
    const scene = openScene();
    const [outcome] = await created(scene, { ports: [8888] }, aBatch(1, { broker: 'http://127.0.0.1:50051' }));

    expect(outcome?.fault).toMatchObject({
      kind: 'invalid',
      message: 'Containers on the network "host" publish no ports, and the broker is reached from there alone.',
    });
    expect(existing(scene)).toEqual([]);
  });

  it.each([
    [
      'by a container',
      'Port 8000 of the machine of the engine is in use: the container web (others/program) holds it.',
    ],
    ['by a program', 'Port 8000 of the machine of the engine is in use: another program holds it.'],
  ])('that is in use %s is refused with its holder, and nothing is left', async (by, message) => {
    const scene = openScene();
    const PortBindings = { '80/tcp': [{ HostIp: '', HostPort: '8000' }] };
    if (by === 'by a container')
      scene.fake.run('web', {}, { ExposedPorts: { '80/tcp': {} }, HostConfig: { PortBindings } });
    else scene.fake.busyPorts.add(8000);
    const before = existing(scene);
    const [outcome] = await created(scene, {}, withPort(8000));

    expect(outcome?.fault).toMatchObject({ kind: 'exhausted', message });
    expect(outcome?.fault?.remedy).toContain('End it, or choose another port.');
    expect(existing(scene)).toEqual(before);
  });
});

describe('the endpoint of a container', () => {
  const at = (host: string) => ({ host: `tcp://${host}:2375` });

  it.each<readonly [string, object, object | undefined]>([
    ['published on loopback', {}, [{ host: '127.0.0.1', port: 8000 }]],
    ['on another port', { ports: ['9000:8000'] }, [{ host: '127.0.0.1', port: 9000 }]],
    ['on a free port', { ports: [{ container: 8000, host: 0 }] }, [{ host: '127.0.0.1', port: 32768 }]],
    ['on every address', { ports: ['0.0.0.0:8000:8000'] }, [{ host: '127.0.0.1', port: 8000 }]],
    ['on one address', { ports: ['10.0.0.7:8000:8000'] }, [{ host: '10.0.0.7', port: 8000 }]],
    [
      'on every address of another machine',
      { ...at('box'), ports: ['0.0.0.0:8000:8000'] },
      [{ host: 'box', port: 8000 }],
    ],
    ['on loopback of another machine', at('box'), undefined],
    ['on the network of another machine', { ...at('box'), network: 'host' }, [{ host: 'box', port: 8000 }]],
    ['without a network', { network: 'none' }, undefined],
  ])('%s is where the server reaches it', async (_what, config, endpoints) => {
    const scene = openScene();
    const backend = await openBackend(scene, config);
    await scene.during(backend.create(withPort(8000), going()));
    const [machine] = await scene.during(backend.list(going()));

    expect(machine?.state).toBe('running');
    expect(machine?.endpoints).toEqual(endpoints);
  });

  it('is not shown once the container has ended', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    await scene.during(backend.create(withPort(8000), going()));
    const [container] = scene.fake.containers;
    if (container) scene.fake.die(container, 0);
    const [machine] = await scene.during(backend.list(going()));

    expect(machine).toMatchObject({ state: 'failed' });
    expect(machine?.endpoints).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { offerShapes } from '#config/offers.ts';
import { readPool } from '#config/pool-document.ts';
import provider from './index.ts';

type Trust = 'operator' | 'foreign';

const read = (docker: object, trust: Trust = 'operator') =>
  readPool(JSON.stringify({ name: 'dev', auto_scaler: { max_agents: 4, backend: { docker } } }), {
    kinds: provider.backends,
    trust,
  });
const problems = (docker: object, trust?: Trust) =>
  read(docker, trust).problems?.map(({ path, message }) => `${path}: ${message}`) ?? [];

describe('a pool of containers', () => {
  it('needs an image alone', () => {
    expect(problems({ image: 'muster/agent' })).toEqual([]);
  });

  it('in the document of a team is refused, because it has the rights of the machine', () => {
    expect(problems({ image: 'muster/agent' }, 'foreign').join()).toContain(
      "the backend docker runs on the server itself, so only the operator's own file may use it",
    );
  });

  it.each([
    [{}, 'docker.image'],
    [{ image: 'a', memory: '4 gigs' }, 'docker.memory: must be a size like 512m or 4g'],
    [{ image: 'a', memory: '0' }, 'docker.memory: must be a size like 512m or 4g'],
    [{ image: 'a', gpus: 0 }, 'docker.gpus'],
    [{ image: 'a', labels: { 'io.muster.cluster': 'x' } }, 'must not begin with io.muster.'],
    [{ image: 'a', host: '/var/run/docker.sock' }, 'docker.host: must be an address like unix:///var/run/docker.sock'],
    [{ image: 'a', volumes: ['/data'] }, 'docker.volumes[0]: must be source:target'],
    [{ image: 'a', extra_hosts: ['muster'] }, 'docker.extra_hosts[0]: must be host:address'],
    [{ image: 'a', netwrok: 'x' }, 'netwrok'],
    [{ image: 'a', ports: [0] }, 'docker.ports[0]: must be a port like 8000, 8080:8000 or 0.0.0.0:8080:8000'],
    [{ image: 'a', ports: ['http'] }, 'docker.ports[0]: must be a port like 8000'],
    [{ image: 'a', ports: ['8080:'] }, 'docker.ports[0]: must be a port like 8000'],
    [{ image: 'a', ports: ['eth0:8080:80'] }, 'docker.ports[0]: must be a port like 8000'],
    [{ image: 'a', ports: ['1:2:3:4'] }, 'docker.ports[0]: must be a port like 8000'],
    [{ image: 'a', ports: ['8080:70000'] }, 'docker.ports[0]: must be a port like 8000'],
    [{ image: 'a', ports: [{ container: 80, host: 70_000 }] }, 'docker.ports[0].host'],
    [{ image: 'a', ports: [{ container: 80, bind: 'eth0' }] }, 'docker.ports[0].bind'],
    [{ image: 'a', ports: [{ container: 80, hots: 8080 }] }, 'hots'],
    [
      { image: 'a', ports: [80], network: 'host' },
      'docker.ports: cannot be combined with network: host, whose containers have no ports of their own',
    ],
    [{ image: 'a', container_name: 'my daemon' }, 'docker.container_name: must have two or more letters'],
  ])('%j is refused', (config, problem) => {
    expect(problems(config).join('\n')).toContain(problem);
  });

  it.each([
    ['512m', 2 ** 29],
    ['4g', 2 ** 32],
    ['4GiB', 2 ** 32],
    ['1.5g', 1.5 * 2 ** 30],
    [1048576, 2 ** 20],
  ])('of %s has %d bytes', (memory, bytes) => {
    expect(read({ image: 'a', memory }).spec?.offers[0]?.config).toMatchObject({ memory: bytes });
  });

  it.each([
    [8000, { container: 8000 }],
    ['8080:8000', { container: 8000, host: 8080 }],
    ['0.0.0.0:8080:8000', { container: 8000, host: 8080, bind: '0.0.0.0' }],
    [
      { container: 8000, bind: '::1' },
      { container: 8000, bind: '::1' },
    ],
  ])('with the port %j publishes %j', (port, published) => {
    expect(read({ image: 'a', ports: [port] }).spec?.offers[0]?.config).toMatchObject({ ports: [published] });
  });

  it('keeps its containers when only the way to the engine, the registry or the time to stop changes', () => {
    const shapeOf = (more: object) => {
      const [offer] = read({ image: 'a', ...more }).spec?.offers ?? [];
      return offer && offerShapes(provider.backends)(offer);
    };
    const same = [
      { host: 'tcp://far:2376', cert_path: '/certs' },
      { registry_username: 'op', registry_password: 'new' },
      { stop_timeout: '5m', pull: 'always' },
    ];

    for (const more of same) expect(shapeOf(more), JSON.stringify(more)).toBe(shapeOf({}));
    expect(shapeOf({ memory: '4g' })).not.toBe(shapeOf({}));
  });
});

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { brokerReach } from './broker-reach.ts';
import { DockerConfig } from './config.ts';

const LINUX = { isLocal: true, isDesktop: false, address: 'unix:///var/run/docker.sock' };
const DESKTOP = { ...LINUX, isDesktop: true };
const REMOTE = { isLocal: false, isDesktop: false, address: 'tcp://far:2376' };

function reach(address: string | undefined, engine = LINUX, more: object = {}) {
  const agentConfig = address === undefined ? 'pool: dev\n' : `broker:\n  address: ${address}\npool: dev\n`;
  const { network, boot } = brokerReach(
    DockerConfig.parse({ image: 'a', ...more }),
    { agentConfig, token: 't' },
    engine,
  );
  return [network, parse(boot.agentConfig).broker?.address];
}

describe('a broker', () => {
  it.each(['https://10.0.0.4:50051', 'muster.example:50051'])('at %s is reached from any network', (address) => {
    expect(reach(address)).toEqual([undefined, address]);
    expect(reach(address, REMOTE)).toEqual([undefined, address]);
    expect(reach(address, LINUX, { network: 'team' })).toEqual(['team', address]);
  });

  it.each(['http://127.0.0.1:50051', 'localhost:50051', 'http://[::1]:50051'])(
    'at %s is reached on the network of this machine',
    (address) => {
      expect(reach(address)).toEqual(['host', address]);
      expect(reach(address, LINUX, { network: 'host' })).toEqual(['host', address]);
    },
  );

  it('on loopback is reached through the gateway of Docker Desktop', () => {
    expect(reach('http://127.0.0.1:50051', DESKTOP)).toEqual([undefined, 'http://host.docker.internal:50051']);
    expect(reach('http://127.0.0.1:50051', DESKTOP, { network: 'team' })[0]).toBe('team');
  });

  it('on loopback is out of reach on any other network and engine, and that is said', () => {
    expect(() => reach('http://127.0.0.1:50051', LINUX, { network: 'bridge' })).toThrow(
      'Containers on the network "bridge" cannot reach the broker at http://127.0.0.1:50051',
    );
    expect(() => reach('http://127.0.0.1:50051', REMOTE)).toThrow('Containers on the engine at tcp://far:2376 cannot');
  });

  it('that the pool names for its agents is the one that counts', () => {
    const agentConfig = { broker: { address: 'host.docker.internal:50051' } };

    expect(reach('http://127.0.0.1:50051', LINUX, { network: 'bridge', agentConfig })).toEqual([
      'bridge',
      'host.docker.internal:50051',
    ]);
  });

  it('with one address on the network beside loopback is reached by that', () => {
    const agentConfig = 'broker:\n  address: http://127.0.0.1:1\n  publicAddress: https://10.0.0.4:1\n';

    expect(brokerReach(DockerConfig.parse({ image: 'a' }), { agentConfig, token: 't' }, LINUX).network).toBeUndefined();
  });

  it('that is not named needs no way', () => {
    expect(reach(undefined, REMOTE)).toEqual([undefined, undefined]);
  });
});

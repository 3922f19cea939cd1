import { expect, it } from 'vitest';
import { aCluster, CA } from '../testing.ts';
import { addressOf } from './endpoint.ts';

const ALL = aCluster({
  controlPlaneEndpointsConfig: {
    dnsEndpointConfig: { endpoint: 'gke-1a2b.us-central1.gke.goog' },
    ipEndpointsConfig: { enabled: true, publicEndpoint: '34.1.2.3', privateEndpoint: '10.0.0.2' },
  },
});

it('takes the public address where none is chosen, with the authority of the cluster', () => {
  expect(addressOf(aCluster(), undefined)).toEqual({ server: 'https://34.1.2.3', ca: CA });
  expect(addressOf(ALL, undefined).server).toBe('https://34.1.2.3');
});

it('takes the address that is chosen; the DNS name has a certificate that every system trusts', () => {
  expect(addressOf(ALL, 'public').server).toBe('https://34.1.2.3');
  expect(addressOf(ALL, 'private')).toEqual({ server: 'https://10.0.0.2', ca: CA });
  expect(addressOf(ALL, 'dns')).toEqual({ server: 'https://gke-1a2b.us-central1.gke.goog', ca: undefined });
});

it('reads the older form of private clusters', () => {
  const older = aCluster({ endpoint: '10.0.0.2', privateClusterConfig: { privateEndpoint: '10.0.0.2' } });

  expect(addressOf(older, undefined).server).toBe('https://10.0.0.2');
  expect(() => addressOf(older, 'public')).toThrow('The cluster velda-cluster in us-central1 has no public address.');
});

it('takes the DNS name where addresses are switched off', () => {
  const dns = aCluster({
    controlPlaneEndpointsConfig: { ...ALL.controlPlaneEndpointsConfig, ipEndpointsConfig: { enabled: false } },
  });

  expect(addressOf(dns, undefined).server).toBe('https://gke-1a2b.us-central1.gke.goog');
  expect(() => addressOf(dns, 'private')).toThrow(expect.objectContaining({ remedy: 'Set endpoint to dns.' }));
});

it('a cluster that is being created has no address yet', () => {
  const made = aCluster({ endpoint: undefined, status: 'PROVISIONING' });

  expect(() => addressOf(made, undefined)).toThrow(expect.objectContaining({ kind: 'unavailable' }));
});

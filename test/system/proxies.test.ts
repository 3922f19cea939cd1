// Every provider goes through the proxies of the environment, a process of its own here, and says who asks.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Clock, systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { AnyKind, Backend, Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { going } from '#core/testing/going.ts';
import { openKube } from '#kube/client.ts';
import { PODS } from '#kube/resource.ts';
import { openOutbound } from '../../src/edge/outbound.ts';
import { readProxies } from '../../src/edge/proxies.ts';
import { type RunningProxy, startProxy } from '../../src/edge/testing/start-proxy.ts';
import aws from '../../src/providers/aws/index.ts';
import azure from '../../src/providers/azure/index.ts';
import digitalocean from '../../src/providers/digitalocean/index.ts';
import docker from '../../src/providers/docker/index.ts';
import gcp from '../../src/providers/gcp/index.ts';
import mithril from '../../src/providers/mithril/index.ts';
import nebius from '../../src/providers/nebius/index.ts';

// Whoever waits before another try has waited.
const clock: Clock = { ...systemClock, sleep: async () => {} };
const AGENT = 'muster/9.9';
// Whatever arrives is refused: what counts is the way.
const server = createServer((_request, reply) => reply.writeHead(403).end());
let proxy: RunningProxy;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startProxy((server.address() as AddressInfo).port);
});
afterAll(async () => {
  await proxy.end();
  server.closeAllConnections();
  server.close();
});

function contextWith(variables: Readonly<Record<string, string>>): Context {
  const all: Readonly<Record<string, string>> = {
    ...variables,
    HTTP_PROXY: proxy.address,
    HTTPS_PROXY: proxy.address,
    NO_PROXY: '169.254.169.254',
  };
  const variable = (name: string): string | undefined => all[name];
  return {
    cluster: 'cluster1',
    clock,
    random: systemRandom,
    log: silentLog,
    shared: openShared(),
    dataDir: '/nowhere',
    agentCommand: [],
    variable,
    ...openOutbound({ proxyFor: readProxies(variable), userAgent: AGENT }),
  };
}

const EC2 = { region: 'us-west-2', instanceType: 'c5.large', amiId: 'ami-1', endpoint: 'http://ec2.cloud.test' };
const AZURE = {
  subscriptionId: '00000000-0000-0000-0000-000000000001',
  resourceGroup: 'velda',
  location: 'westeurope',
  vmSize: 'Standard_D2s_v5',
  subnetId: 'a/b',
};
const LOGIN = { AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c', AZURE_CLIENT_SECRET: 's' };
const GCE = { project: 'my-project', zone: 'us-central1-a', machineType: 'e2-small' };
const EMULATOR = {
  CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: 'http://compute.cloud.test',
  CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
};
const DROPLET = { region: 'nyc3', image: 'ubuntu-24-04-x64', size: 's-1vcpu-1gb', apiEndpoint: 'http://do.cloud.test' };
const BID = {
  projectId: 'p',
  region: 'us-central1-b',
  instanceType: 'it_1',
  limitPrice: 1,
  apiEndpoint: 'http://m.cloud.test',
};
const NEBIUS = {
  parentId: 'p',
  subnetId: 's',
  platform: 'cpu-d3',
  resourcePreset: '4vcpu-16gb',
  endpoint: 'http://n.cloud.test',
};

const KINDS: readonly (readonly [string, AnyKind<Backend>, object, Readonly<Record<string, string>>, RegExp])[] = [
  ['aws_launch_template', aws.backends.aws_launch_template, EC2, {}, /ec2\.cloud\.test/],
  ['azure_vm', azure.backends.azure_vm, AZURE, LOGIN, /login\.microsoftonline\.com:443/],
  ['gce_instance', gcp.backends.gce_instance, GCE, EMULATOR, /compute\.cloud\.test/],
  [
    'digitalocean_droplet',
    digitalocean.backends.digitalocean_droplet,
    DROPLET,
    { DIGITALOCEAN_API_TOKEN: 't' },
    /do\.cloud/,
  ],
  ['mithril_spot_bid', mithril.backends.mithril_spot_bid, BID, { MITHRIL_API_TOKEN: 'fkey_1' }, /m\.cloud\.test/],
  [
    'nebius_launch_template',
    nebius.backends.nebius_launch_template,
    NEBIUS,
    { NEBIUS_IAM_TOKEN: 't' },
    /n\.cloud\.test/,
  ],
  ['docker', docker.backends.docker, { image: 'a', host: 'tcp://docker.cloud.test:2375' }, {}, /docker\.cloud\.test/],
];

describe('through the proxy of the environment', () => {
  test.each(KINDS)('%s lists its machines, and names Muster', async (_name, kind, config, variables, address) => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    const before = proxy.seen.length;
    const context = contextWith(variables);
    const listed = kind.open(kind.config.parse(config), context).then((backend) => backend.list(going()));
    await expect(listed).rejects.toMatchObject({ kind: expect.stringMatching(/unavailable|unauthenticated|denied/) });
    vi.unstubAllEnvs();

    const seen = proxy.seen.slice(before);
    expect(seen.map(({ url }) => url).join(' ')).toMatch(address);
    for (const { method, agent } of seen) if (method !== 'CONNECT') expect(agent).toContain(AGENT);
  });

  test('a cluster of Kubernetes is asked, by the proxy of its kubeconfig before that of the environment', async () => {
    const own = await startProxy((server.address() as AddressInfo).port);
    const { fetchWith } = contextWith({});
    const before = proxy.seen.length;
    for (const proxyUrl of [undefined, own.address]) {
      const access = {
        id: 'k',
        server: 'http://kube.cloud.test',
        credential: async () => ({ headers: {}, tls: { proxyUrl } }),
      };
      const kube = openKube({ access, clock: systemClock, fetchWith: fetchWith as NonNullable<typeof fetchWith> });
      await expect(kube.list(PODS, {}, going())).rejects.toMatchObject({ kind: 'denied' });
    }
    const agents = [...proxy.seen.slice(before), ...own.seen].map(({ agent }) => agent);
    await own.end();

    expect(agents).toEqual([AGENT, AGENT]);
  });
});

// What the tests of this provider share: the simulated AWS on a virtual clock, and a context that sees nothing else.

import { launchNames } from '#core/id.ts';
import type { Backend, Context, Launch } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { contextWithLog } from '../../conformance/backend-world.ts';
import { LaunchConfig } from './config.ts';
import { type FakeAws, type FakeAwsOptions, openFakeAws } from './fake/fake-aws.ts';
import { FURNITURE } from './fake/furniture.ts';
import { openLaunchTemplate } from './launch-template/backend.ts';

export const going = (): AbortSignal => new AbortController().signal;
export const REGION = 'us-west-2';
export const CLUSTER = 'cluster1';

export interface Scene {
  readonly clock: VirtualClock;
  readonly fake: FakeAws;
  readonly lines: string[];
  contextFor(cluster: string): Context;
  /** Awaits a call while time passes. */
  during<T>(call: Promise<T>): Promise<T>;
}

export function openScene(options: Partial<FakeAwsOptions> = {}): Scene {
  const clock = new VirtualClock();
  const fake = openFakeAws({ clock, random: seededRandom(1), ...options });
  const lines: string[] = [];
  return {
    clock,
    fake,
    lines,
    contextFor(cluster) {
      const parts = {
        cluster,
        clock,
        random: seededRandom(2),
        fetch: fake.fetch,
        dataDir: '/nowhere',
        agentCommand: [],
      };
      return contextWithLog(parts, lines);
    },
    during: (call) => during(clock, call),
  };
}

/** The seed's pool for GPUs. */
export const GPU = {
  region: REGION,
  launchTemplateName: FURNITURE.gpuTemplate,
  instanceType: 'p3.2xlarge',
  amiId: FURNITURE.image,
  subnetId: FURNITURE.subnets[0],
  securityGroupIds: [FURNITURE.group],
};

export function openBackend(scene: Scene, config: object = GPU, cluster = CLUSTER): Promise<Backend> {
  return openLaunchTemplate(LaunchConfig.parse(config), scene.contextFor(cluster));
}

/** A launch as the program makes it: names that differ only in their place. */
export function aBatch(count: number, id = 'launch1'): Launch {
  return {
    id,
    mark: { cluster: CLUSTER, use: 'worker', owner: 'pool1', shape: 'shape1' },
    names: launchNames({ name: 'gpu', id: 'p1' }, count, seededRandom(3)),
    boot: {
      agentConfig: 'broker:\n  address: https://muster:50051\npool: gpu-pool\n',
      token: 'mlt_secret',
      install: {
        archives: [{ machine: 'x86_64', url: 'https://muster:8081/agent/agent.tar.gz', sha256: 'ab12' }],
      },
    },
  };
}

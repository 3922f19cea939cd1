// What the tests of this provider share: the simulated AWS on a virtual clock, and a context that sees nothing else.

import type { Backend } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { OURS } from '../../conformance/backend-world.ts';
import { openSceneOf, type Scene } from '../../conformance/scene.ts';
import { LaunchConfig } from './config.ts';
import { openEcs } from './ecs/backend.ts';
import { EcsConfig } from './ecs/config.ts';
import { type FakeAws, type FakeAwsOptions, openFakeAws } from './fake/fake-aws.ts';
import { SEED_DATA } from './fake/seed-data.ts';
import { openLaunchTemplate } from './launch-template/backend.ts';

export const REGION = 'us-west-2';

export type AwsScene = Scene<FakeAws>;

export const openScene = (options: Partial<FakeAwsOptions> = {}): AwsScene =>
  openSceneOf((clock) => openFakeAws({ clock, random: seededRandom(1), ...options }));

/** The seed's pool for GPUs. */
export const GPU = {
  region: REGION,
  launchTemplateName: SEED_DATA.gpuTemplate,
  instanceType: 'p3.2xlarge',
  amiId: SEED_DATA.image,
  subnetId: SEED_DATA.subnets[0],
  securityGroupIds: [SEED_DATA.group],
};

export function openBackend(scene: AwsScene, config: object = GPU, cluster = OURS): Promise<Backend> {
  return openLaunchTemplate(LaunchConfig.parse(config), scene.contextFor(cluster));
}

/** Tasks with a public address. */
export const FARGATE = {
  region: REGION,
  image: 'registry.example/muster-agent:1.2.0',
  subnets: [SEED_DATA.subnets[0]],
  securityGroups: [SEED_DATA.group],
};

export function openEcsBackend(scene: AwsScene, config: object = {}, cluster = OURS): Promise<Backend> {
  return openEcs(EcsConfig.parse({ ...FARGATE, ...config }), scene.contextFor(cluster));
}

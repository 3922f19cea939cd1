// How tests get at the fake Nebius.
import type { Backend } from '#core/provider.ts';
import { noLimits } from '#fakes/limits.ts';
import type { SliceMachine } from '#sim/slice/cloud.ts';
import { openSceneOf, type Scene } from '../../../conformance/scene.ts';
import type { SliceSuite } from '../../../conformance/slice-world.ts';
import { InstanceConfig } from '../config.ts';
import nebius from '../index.ts';
import { openInstances } from '../instance/backend.ts';
import { markOf } from '../instance/marks.ts';
import { type FakeNebius, type FakeNebiusOptions, openFakeNebius, someLimits } from './cloud.ts';
import { bootable, existsAt, type FakeInstance, shownInstance } from './instance.ts';
import type { NebiusCall } from './wire.ts';

export const TOKEN = 'ne1planted';
/** The seed's pool for one GPU, with the platform as Nebius spells it. */
export const H200 = {
  parentId: 'folder-abc123',
  subnetId: 'subnet-xyz',
  platform: 'gpu-h200-sxm',
  resourcePreset: '1gpu-16vcpu-200gb',
  iamToken: TOKEN,
};

export type NebiusScene = Scene<FakeNebius>;

export const openScene = (options: Partial<FakeNebiusOptions> = {}): NebiusScene =>
  openSceneOf((clock) => openFakeNebius({ clock, ...options }));

export function openBackend(scene: NebiusScene, config: object = H200, context = scene.contextFor()): Promise<Backend> {
  return scene.during(openInstances(InstanceConfig.parse(config), context));
}

const isLaterPage = ({ action, body }: NebiusCall): boolean => action === 'list' && body.pageToken !== undefined;
export const LATER_PAGE = { when: isLaterPage, what: { kind: 'error', code: 'InternalError' } } as const;

function machineOf(instance: FakeInstance): SliceMachine {
  const { labels } = instance;
  const { metadata } = shownInstance(instance, 0);
  return {
    ...bootable(instance),
    name: instance.name,
    mark: markOf({ metadata: metadata && ({ ...metadata, labels } as never) }),
    exists: (nowMs) => existsAt(instance, nowMs) && !instance.isStillborn,
  };
}

/** Instances that others make in the project, some with a part of our mark. */
function addForeign(fake: FakeNebius, cluster: string): string[] {
  const most = { 'muster-pool': 'p', 'muster-shape': 's' };
  const labels = [
    {},
    { 'managed-by': 'velda' },
    most,
    { ...most, 'muster-cluster': 'cluster9' },
    { 'muster-cluster': cluster },
  ];
  return labels.map((some, at) => fake.add({ name: `of-others-${at}`, labels: some }).id);
}

export const NEBIUS_SLICE: SliceSuite = {
  provider: nebius,
  backend: {
    kind: 'nebius_launch_template',
    config: {
      parent_id: H200.parentId,
      subnet_id: H200.subnetId,
      platform: H200.platform,
      resource_preset: H200.resourcePreset,
      iam_token: TOKEN,
    },
  },
  openCloud({ isLimited, ...options }) {
    const fake = openFakeNebius({ ...options, limits: isLimited ? someLimits : noLimits });
    return {
      fake,
      machines: () => fake.instances.map(machineOf),
      watch: (changed) => void fake.watch((instance) => changed(machineOf(instance))),
      addForeign: async (cluster) => addForeign(fake, cluster),
      refuseLate: fake.refuseLate,
    };
  },
  creation: 'create',
  removals: ['delete', 'stop'],
  mostCalls: { creation: 1_000, removal: 1_000 },
  mostDocuments: 1_000,
  laterPage: LATER_PAGE,
  denied: { kind: 'error', code: 'PermissionDenied', message: 'No access to the project' },
  named: 'api.nebius.cloud',
  forbidden: [
    ['a variable', { resource_preset: `\${NEBIUS_IAM_TOKEN}` }, 'resource_preset'],
    ['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint'],
  ],
};

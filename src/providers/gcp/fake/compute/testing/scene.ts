// How tests get at the fake Compute Engine.
import type { Backend, Context } from '#core/provider.ts';
import { openSceneOf, type Scene } from '../../../../../conformance/scene.ts';
import { openInstances } from '../../../instance/backend.ts';
import { InstanceConfig } from '../../../instance/config.ts';
import { openInstanceGroup } from '../../../instance-group/backend.ts';
import { GroupConfig } from '../../../instance-group/config.ts';
import { type FakeGcp, openFakeGcp } from '../../fake-gcp.ts';
import type { GcpCall } from '../../read-call.ts';
import type { FakeGroup } from '../group.ts';
import { PROJECT, ZONE } from '../seed-data.ts';
import type { ComputeBehaviour, ComputeState } from '../state.ts';

/** The seed's group. */
export const GROUP = { project: PROJECT, zone: ZONE, instanceGroup: 'velda-workers' };
export const INSTANCE = { project: PROJECT, zone: ZONE, machineType: 'e2-standard-4' };

export interface ComputeScene extends Scene<FakeGcp> {
  readonly compute: ComputeState;
  /** The seed's group as the fake has it. */
  readonly group: FakeGroup;
  openGroup(config?: object, context?: Context): Promise<Backend>;
  openInstances(config?: object, context?: Context): Promise<Backend>;
}

export function groupIn(state: ComputeState, place = `zones/${ZONE}`, name = GROUP.instanceGroup): FakeGroup {
  return state.groups.get(`${PROJECT}/${place}/${name}`) as FakeGroup;
}

export function openComputeScene(behaviour: Partial<ComputeBehaviour> = {}): ComputeScene {
  const scene = openSceneOf(openFakeGcp);
  const { fake, during, contextFor } = scene;
  const { compute } = fake.world;
  Object.assign(compute.behaviour, behaviour);
  fake.world.machineAccount = `muster@${PROJECT}.iam.gserviceaccount.com`;
  return {
    ...scene,
    compute,
    group: groupIn(compute),
    openGroup: (config = {}, context = contextFor()) =>
      during(openInstanceGroup(GroupConfig.parse({ ...GROUP, ...config }), context)),
    openInstances: (config = {}, context = contextFor()) =>
      during(openInstances(InstanceConfig.parse({ ...INSTANCE, ...config }), context)),
  };
}

const isLaterPage = ({ service, query }: GcpCall): boolean => service === 'compute' && query.pageToken !== undefined;
export const LATER_PAGE = { when: isLaterPage, what: { kind: 'error', code: 'backendError', status: 500 } } as const;

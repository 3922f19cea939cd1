// How tests get at the fake Compute Engine.
import { launchNames } from '#core/id.ts';
import type { Backend, Context, Launch, Mark } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { contextWithLog } from '../../../../../conformance/backend-world.ts';
import { openInstances } from '../../../instance/backend.ts';
import { InstanceConfig } from '../../../instance/config.ts';
import { openInstanceGroup } from '../../../instance-group/backend.ts';
import { GroupConfig } from '../../../instance-group/config.ts';
import { type FakeGcp, openFakeGcp } from '../../fake-gcp.ts';
import type { GcpCall } from '../../read-call.ts';
import { PROJECT, ZONE } from '../furniture.ts';
import type { FakeGroup } from '../group.ts';
import type { ComputeBehaviour, ComputeState } from '../state.ts';

export const CLUSTER = 'cluster1';
/** The seed's group. */
export const GROUP = { project: PROJECT, zone: ZONE, instanceGroup: 'velda-workers' };
export const INSTANCE = { project: PROJECT, zone: ZONE, machineType: 'e2-standard-4' };
export const going = (): AbortSignal => new AbortController().signal;

export interface ComputeScene {
  readonly clock: VirtualClock;
  readonly fake: FakeGcp;
  readonly compute: ComputeState;
  /** The seed's group as the fake has it. */
  readonly group: FakeGroup;
  readonly lines: string[];
  /** A process of its own for each. */
  contextFor(cluster?: string): Context;
  openGroup(config?: object, context?: Context): Promise<Backend>;
  openInstances(config?: object, context?: Context): Promise<Backend>;
  during<T>(call: Promise<T>): Promise<T>;
}

export function groupIn(state: ComputeState, place = `zones/${ZONE}`, name = GROUP.instanceGroup): FakeGroup {
  return state.groups.get(`${PROJECT}/${place}/${name}`) as FakeGroup;
}

export function openComputeScene(behaviour: Partial<ComputeBehaviour> = {}): ComputeScene {
  const clock = new VirtualClock();
  const fake = openFakeGcp(clock);
  const { compute } = fake.world;
  Object.assign(compute.behaviour, behaviour);
  fake.world.machineAccount = 'muster@my-project.iam.gserviceaccount.com';
  const lines: string[] = [];
  const contextFor = (cluster = CLUSTER): Context => {
    const parts = { cluster, clock, random: seededRandom(2), fetch: fake.fetch, dataDir: '/nowhere', agentCommand: [] };
    return contextWithLog(parts, lines);
  };
  return {
    clock,
    fake,
    compute,
    group: groupIn(compute),
    lines,
    contextFor,
    openGroup: (config = {}, context = contextFor()) =>
      during(clock, openInstanceGroup(GroupConfig.parse({ ...GROUP, ...config }), context)),
    openInstances: (config = {}, context = contextFor()) =>
      during(clock, openInstances(InstanceConfig.parse({ ...INSTANCE, ...config }), context)),
    during: (call) => during(clock, call),
  };
}

export const MARK: Mark = { cluster: CLUSTER, use: 'worker', owner: 'pool1', shape: '0123456789ab' };

/** A launch as the program makes it. */
export function aBatch(count: number, id = 'launch1'): Launch {
  return {
    id,
    mark: MARK,
    names: launchNames({ name: 'my-pool', id: MARK.owner }, count, seededRandom(3)),
    boot: { agentConfig: 'broker:\n  address: https://muster:50051\npool: my-pool\n', token: 'mlt_secret' },
  };
}

const isLaterPage = ({ service, query }: GcpCall): boolean => service === 'compute' && query.pageToken !== undefined;
export const LATER_PAGE = { when: isLaterPage, what: { kind: 'error', code: 'backendError', status: 500 } } as const;

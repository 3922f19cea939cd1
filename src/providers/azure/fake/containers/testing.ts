// How tests get at the container groups of the fake Azure.
import type { FaultKind } from '#core/fault.ts';
import type { Backend } from '#core/provider.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { BackendWorld } from '../../../../conformance/backend-world.ts';
import { type Failures, troubleIn } from '../../../../conformance/scene.ts';
import { openContainerInstances } from '../../container-instance/backend.ts';
import { ContainerInstanceConfig } from '../../container-instance/config.ts';
import type { AzureCall } from '../read-call.ts';
import { type AzureScene, contextIn, GROUP, SUBSCRIPTION } from '../testing.ts';
import { type Containers, stateOf } from './groups.ts';

export const IMAGE = 'velda.azurecr.io/muster-agent:1.2.0';
const CONFIG = { subscriptionId: SUBSCRIPTION, resourceGroup: GROUP, location: 'westeurope', image: IMAGE };

export const openInContainers = (
  scene: AzureScene,
  config: object = {},
  context = contextIn(scene),
): Promise<Backend> =>
  scene.during(openContainerInstances(ContainerInstanceConfig.parse({ ...CONFIG, ...config }), context));

export const containersOf = ({ fake }: AzureScene): Containers => fake.world.containers;

/** The names of all groups that are there, also those whose containers have ended. */
export const groupsIn = ({ all }: Containers, nowMs: number): string[] =>
  all.filter((one) => stateOf(one, nowMs) !== 'gone').map(({ name }) => name);

export const LATER_GROUPS = {
  when: ({ params, action }: AzureCall) => action === 'management.containerList' && params.$skiptoken !== undefined,
  what: { kind: 'error', code: 'InternalServerError', status: 500 },
} as const;

const refused = (code: string, status: number, message = `${code}.`): CallFailure => ({
  kind: 'error',
  ...{ code, status, message },
});

const FAILURES: Failures = {
  exhausted: refused(
    'ServiceUnavailable',
    409,
    "The requested resource is not available in the location 'westeurope'.",
  ),
  quota: refused('ContainerGroupQuotaReached', 409),
  invalid: refused('InaccessibleImage', 400),
  throttled: { kind: 'throttle' },
  denied: refused('AuthorizationFailed', 403),
  missing: refused('ResourceGroupNotFound', 404),
  unavailable: { kind: 'garbage' },
};
export const GROUP_FAULTS = Object.keys(FAILURES) as FaultKind[];

/** The world that the laws of a backend are tried in. */
export function openGroupWorld(scene: AzureScene, open: BackendWorld['open']): BackendWorld {
  const { world } = scene.fake;
  const { all } = world.containers;
  return {
    ...troubleIn(scene, { creation: 'management.containerPut', laterPage: LATER_GROUPS, failures: FAILURES }),
    open,
    async existing() {
      const nowMs = scene.clock.now();
      return all.filter((one) => ['Creating', 'Running'].includes(stateOf(one, nowMs))).map(({ name }) => name);
    },
    async reached({ host, port }) {
      const found = all.find(({ ip }) => ip === host);
      return found && { name: found.name, port };
    },
    hideFromListings() {
      world.compute.settings.lagMs = Number.POSITIVE_INFINITY;
    },
    failLate() {
      world.compute.settings.late = 1;
    },
  };
}

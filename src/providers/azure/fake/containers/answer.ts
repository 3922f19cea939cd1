// Container groups of Resource Manager, as far as this provider uses them.
import { refusal } from '#fakes/refusal.ts';
import { checkGroup } from '../compute/references.ts';
import { groupIn, lastOf, notFound, paged, underWay } from '../compute/replies.ts';
import type { AzureCall } from '../read-call.ts';
import type { World } from '../world.ts';
import { checkGroupCreation } from './check-group.ts';
import { type FakeGroup, type GroupState, stateOf } from './groups.ts';

const isoOf = (ms: number): string => new Date(ms).toISOString();

const PROVISIONING: Readonly<Record<GroupState, string>> = {
  Creating: 'Creating',
  Running: 'Succeeded',
  Terminated: 'Succeeded',
  Stopped: 'Succeeded',
  Failed: 'Failed',
  Deleting: 'Deleting',
  gone: 'Deleting',
};

interface ContainerPart {
  readonly name: string;
  readonly properties: object;
}

/** What only the question for one group shows. */
function viewsOf({ exitCode, failure, madeAtMs }: FakeGroup, state: GroupState): [string, object] {
  if (state === 'Terminated') {
    const currentState = {
      state: 'Terminated',
      startTime: isoOf(madeAtMs),
      exitCode,
      detailStatus: exitCode === 0 ? 'Completed' : 'Error',
    };
    return [exitCode === 0 ? 'Succeeded' : 'Failed', { currentState, events: [] }];
  }
  if (state === 'Stopped') return ['Stopped', { currentState: { state: 'Terminated', detailStatus: '' }, events: [] }];
  if (state === 'Running')
    return ['Running', { currentState: { state: 'Running', startTime: isoOf(madeAtMs) }, events: [] }];
  const events =
    failure && state === 'Failed' ? [{ name: failure.code, message: failure.message, type: 'Warning' }] : [];
  return [state === 'Failed' ? 'Failed' : 'Pending', { currentState: { state: 'Waiting' }, events }];
}

/** As Resource Manager shows it; a listing says nothing of its containers. */
export function shown(
  one: FakeGroup,
  nowMs: number,
  { isListed = false, isAddressLate = false }: { readonly isListed?: boolean; readonly isAddressLate?: boolean } = {},
): object {
  const { id, name, location, tags, properties, ip } = one;
  const { ipAddress, containers, ...rest } = properties as {
    readonly ipAddress?: object;
    readonly containers: readonly ContainerPart[];
  };
  const state = stateOf(one, nowMs);
  const [view, ofContainer] = viewsOf(one, state);
  const viewed = containers.map((part) => ({
    ...part,
    properties: { ...part.properties, ...(!isListed && { instanceView: { restartCount: 0, ...ofContainer } }) },
  }));
  return {
    ...{ id, name, location, tags, type: 'Microsoft.ContainerInstance/containerGroups' },
    properties: {
      ...rest,
      containers: viewed,
      // Until it is placed, its address is 0.0.0.0.
      ...(ipAddress && { ipAddress: { ...ipAddress, ip: isAddressLate || state === 'Creating' ? '0.0.0.0' : ip } }),
      provisioningState: PROVISIONING[state],
      ...(!isListed && { instanceView: { events: [], state: view } }),
    },
  };
}

const transitioning = (name: string): Error =>
  refusal(
    'ContainerGroupTransitioning',
    `The container group '${name}' is still transitioning, please retry later.`,
    409,
  );

function found(call: AzureCall, { containers }: World, name = lastOf(call.path)): FakeGroup {
  const one = containers.find(groupIn(call.path), name);
  if (!one) throw notFound(call);
  return one;
}

/** The name before the last words of a path. */
const nameBefore = (call: AzureCall, words: number): string =>
  decodeURIComponent(call.path.split('/').at(-1 - words) ?? '');

function put(call: AzureCall, world: World): Response {
  const { containers, clock, compute } = world;
  const [group, name] = [groupIn(call.path), lastOf(call.path)];
  const existing = containers.find(group, name);
  const state = existing && stateOf(existing, clock.now());
  if (state === 'Creating' || state === 'Deleting') throw transitioning(name);
  const wanted = checkGroupCreation(name, call.body, { containers, references: compute.references });
  if (existing) {
    containers.restart(existing);
    return Response.json(shown(existing, clock.now()));
  }
  const { made, operation } = containers.make(group, name, wanted);
  return Response.json(shown(made, clock.now()), { status: 201, headers: underWay(call, compute, operation) });
}

function removed(call: AzureCall, { containers, compute }: World): Response {
  const one = containers.find(groupIn(call.path), lastOf(call.path));
  if (!one) return new Response(null, { status: 204 });
  const operation = containers.end(one);
  return new Response(null, { status: 202, headers: underWay(call, compute, operation) });
}

function stopped(call: AzureCall, world: World): Response {
  world.containers.stop(found(call, world, nameBefore(call, 1)));
  return new Response(null, { status: 204 });
}

type Act = (call: AzureCall, world: World) => object;

const ACTS: Readonly<Record<string, readonly [right: string, act: Act]>> = {
  containerPut: ['write', put],
  containerGet: ['read', (call, world) => shown(found(call, world), world.clock.now())],
  containerDelete: ['delete', removed],
  containerList: [
    'read',
    (call, world) => {
      const nowMs = world.clock.now();
      const { isAddressLate } = world.containers.settings;
      const items = world.containers
        .listed(groupIn(call.path))
        .map((one) => shown(one, nowMs, { isListed: true, isAddressLate }));
      return paged(call, world, items);
    },
  ],
  containerStop: ['stop/action', stopped],
  containerLogs: ['containers/logs/read', (call, world) => ({ content: found(call, world, nameBefore(call, 3)).log })],
};

/** The answer, or nothing where the call is about something else. */
export function answerContainers(call: AzureCall, world: World): object | undefined {
  const [verb, act] = ACTS[call.action.replace('management.', '')] ?? [];
  if (!act) return undefined;
  const right = `Microsoft.ContainerInstance/containerGroups/${verb}`;
  if (world.denied.has(right))
    throw refusal('AuthorizationFailed', `The client does not have authorization to perform action '${right}'.`, 403);
  if (call.sent.method !== 'DELETE') checkGroup(world.compute.references, groupIn(call.path));
  return act(call, world);
}

// The queue of a group: requests wait until there is room for all of their instances, which then end by themselves.
import { refusal } from '#fakes/refusal.ts';
import { type FakeGroup, type FakeManaged, instanceFor, isThere, templateOf, zonesOf } from './group.ts';
import { makeInstance } from './make.ts';
import { type Body, changedGroup, groupOf, notFound, paged, type Question } from './question.ts';
import { type FakeResizeRequest, isOver, shownRequest, stateOf } from './resize-request.ts';
import type { ComputeState } from './state.ts';
import { takeRoom } from './stock.ts';

const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const [LEAST_SECONDS, MOST_SECONDS] = [600, 604_800];
const GRANTED_IN_MS = 1_000;

const ofFirstZone = (group: FakeGroup): string => zonesOf(group)[0] ?? '';

/** Takes room for all, or says why there is none and takes nothing. */
function takeAll(state: ComputeState, group: FakeGroup, count: number) {
  const { machineType } = templateOf(state, group);
  const demand = { project: group.project, zone: ofFirstZone(group), machineType };
  const key = `${machineType} ${demand.zone}`;
  const before = state.stock.get(key);
  for (let taken = 0; taken < count; taken++) {
    const error = takeRoom(state, demand);
    if (error && before !== undefined) state.stock.set(key, before);
    if (error) return error;
  }
  return undefined;
}

function grant(state: ComputeState, group: FakeGroup, request: FakeResizeRequest): void {
  request.lastError = takeAll(state, group, request.names.length);
  if (request.lastError) return;
  const { bootMs } = state.behaviour;
  const atMs = state.clock.now() + GRANTED_IN_MS;
  request.outcome = { atMs, state: 'SUCCEEDED' };
  const { runForMs } = request;
  for (const name of request.names) {
    const place = { name, zone: ofFirstZone(group), metadata: {} };
    const runTime = runForMs === undefined ? undefined : ({ ms: runForMs, action: 'DELETE' } as const);
    const instance = makeInstance(state, { ...instanceFor(state, group, place), runTime }, atMs);
    const managed: FakeManaged = {
      ...place,
      madeAtMs: atMs,
      incarnations: [instance],
      error: undefined,
      goneAtMs: undefined,
      endsAtMs: runForMs === undefined ? undefined : atMs + bootMs + runForMs,
    };
    group.managed.push(managed);
  }
}

/** Grants all that waits and for which there is room. */
export function grantWaiting(state: ComputeState): void {
  state.isQueueHeld = false;
  for (const group of state.groups.values())
    for (const request of group.requests) if (!request.outcome) grant(state, group, request);
}

/** Google gives a request up for good. */
export function failRequest(state: ComputeState, request: FakeResizeRequest): void {
  const error = { code: 'QUOTA_EXCEEDED', message: "Quota 'PREEMPTIBLE_NVIDIA_H100_GPUS' exceeded." };
  request.outcome = { atMs: state.clock.now(), state: 'FAILED', error };
}

/** "Queued instances do not have URL": the reference of deleteInstances. */
export const shownQueued = (group: FakeGroup, nowMs: number): Body[] =>
  group.requests
    .filter((request) => !isOver(request, nowMs))
    .flatMap(({ names }) => names.map((name) => ({ name, currentAction: 'CREATING' })));

interface Wanted {
  readonly name?: string;
  readonly description?: string;
  readonly resizeBy?: number;
  readonly instances?: readonly { readonly name: string }[];
  readonly requestedRunDuration?: { readonly seconds?: string | number };
}

/** Refuses what Compute Engine refuses before it begins. */
function checkWanted(
  group: FakeGroup,
  { name = '', resizeBy, instances, requestedRunDuration }: Wanted,
  nowMs: number,
) {
  const invalid = (field: string, value: unknown, why: string): Error =>
    refusal('invalid', `Invalid value for field 'resource.${field}': '${value}'. ${why}`);
  if (!NAME.test(name)) throw invalid('name', name, 'It must comply with RFC1035.');
  if (group.requests.some((one) => one.name === name))
    throw refusal('alreadyExists', `The resource 'resizeRequests/${name}' already exists`, 409);
  if ((resizeBy === undefined) === (instances === undefined))
    throw invalid('resizeBy', resizeBy, 'Exactly one of resizeBy and instances must be specified.');
  const seconds = Number(requestedRunDuration?.seconds ?? LEAST_SECONDS);
  if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS))
    throw invalid('requestedRunDuration', seconds, 'It must be between 10 minutes and 7 days.');
  const taken = new Set([
    ...group.managed.flatMap((one) => (isThere(one, nowMs) ? one.name : [])),
    ...group.requests.flatMap((one) => (isOver(one, nowMs) ? [] : one.names)),
  ]);
  const again = instances?.find((one) => taken.has(one.name));
  if (again) throw refusal('alreadyExists', `The instance '${again.name}' already exists in the group.`, 409);
}

function insert(question: Question): Body {
  const { call, state, nowMs } = question;
  const wanted = call.body as Wanted;
  return changedGroup(question, 'instanceGroupManagerResizeRequests.insert', (group) => {
    checkWanted(group, wanted, nowMs);
    const { name = '', description, resizeBy = 0, instances, requestedRunDuration: runFor } = wanted;
    const own = Array.from({ length: resizeBy }, () => `${group.name}-q${state.nextId().slice(-6)}`);
    const request: FakeResizeRequest = {
      id: state.nextId(),
      name,
      description,
      names: instances?.map((one) => one.name) ?? own,
      isNamed: instances !== undefined,
      runForMs: runFor && Number(runFor.seconds) * 1_000,
      madeAtMs: nowMs,
      lastError: undefined,
      outcome: undefined,
    };
    group.requests.push(request);
    if (!state.isQueueHeld) grant(state, group, request);
  });
}

function requestOf(question: Question, group = groupOf(question)): FakeResizeRequest {
  const name = question.call.path.split('/resizeRequests/')[1]?.split('/')[0];
  const found = group.requests.find((one) => one.name === name);
  if (!found) throw notFound(`instanceGroupManagers/${group.name}/resizeRequests/${name}`);
  return found;
}

function cancel(question: Question): Body {
  const { nowMs } = question;
  return changedGroup(question, 'instanceGroupManagerResizeRequests.cancel', (group) => {
    const request = requestOf(question, group);
    if (stateOf(request, nowMs) !== 'ACCEPTED' || request.outcome)
      throw refusal('conditionNotMet', `The resize request '${request.name}' cannot be cancelled.`, 412);
    request.outcome = { atMs: nowMs, state: 'CANCELLED' };
  });
}

function remove(question: Question): Body {
  return changedGroup(question, 'instanceGroupManagerResizeRequests.delete', (group) => {
    const request = requestOf(question, group);
    if (!isOver(request, question.nowMs))
      throw refusal('invalid', `The resize request '${request.name}' must be cancelled before it is deleted.`);
    group.requests.splice(group.requests.indexOf(request), 1);
  });
}

function list(question: Question): Body {
  const { nowMs } = question;
  const group = groupOf(question);
  const { items, token } = paged(question, group.requests, ({ name }) => name);
  return {
    kind: 'compute#instanceGroupManagerResizeRequestList',
    items: items.map((one) => shownRequest(one, group, nowMs)),
    ...(token !== undefined && { nextPageToken: token }),
  };
}

export const RESIZE_REQUESTS: Readonly<Record<string, (question: Question) => Body>> = {
  'instanceGroupManagerResizeRequests.list': list,
  'instanceGroupManagerResizeRequests.get': (question) =>
    shownRequest(requestOf(question), groupOf(question), question.nowMs),
  'instanceGroupManagerResizeRequests.insert': insert,
  'instanceGroupManagerResizeRequests.cancel': cancel,
  'instanceGroupManagerResizeRequests.delete': remove,
};

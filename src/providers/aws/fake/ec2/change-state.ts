import { refusal } from '#fakes/refusal.ts';
import { isSet, textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask, World } from '../world.ts';
import { named } from './describe-instances.ts';
import { follow, type Instance, isOver, type StateName, type StateReason, stateAt } from './instance.ts';
import { stateXml } from './instance-xml.ts';
import { take } from './stock.ts';

const BY_USER: StateReason = {
  code: 'Client.UserInitiatedShutdown',
  message: 'Client.UserInitiatedShutdown: User initiated shutdown',
};

const FROM_WITHIN: StateReason = {
  code: 'Client.InstanceInitiatedShutdown',
  message: 'Client.InstanceInitiatedShutdown: Instance initiated shutdown',
};

const BY_SPOT: StateReason = {
  code: 'Server.SpotInstanceTermination',
  message: 'Server.SpotInstanceTermination: Spot instance termination',
};

/** Finds all that a call names, or refuses all; then changes each and says how. */
function change(ask: Ask, element: string, act: (instance: Instance) => void): Readonly<Record<string, Xml>> {
  const ids = textsAt(ask.params, 'InstanceId');
  if (ids.length === 0) throw refusal('MissingParameter', 'The request must contain the parameter InstanceId');
  const instances = named(ask, [...new Set(ids)]);
  if (isSet(ask.params, 'DryRun')) {
    throw refusal('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412);
  }
  const before = instances.map((instance) => stateAt(instance, ask.nowMs));
  for (const instance of instances) act(instance);
  return {
    [element]: instances.map((instance, index) => ({
      instanceId: instance.id,
      currentState: stateXml(stateAt(instance, ask.nowMs)),
      previousState: stateXml(before[index] as StateName),
    })),
  };
}

export function end(world: World, instance: Instance, { atMs, reason }: { atMs: number; reason: StateReason }): void {
  const { terminateMs } = world.behaviour;
  follow(instance, [
    { atMs, state: 'shutting-down', reason },
    { atMs: atMs + terminateMs, state: 'terminated', reason },
  ]);
  world.changed(instance);
}

/** Terminating what has ended changes nothing and is no fault. */
export function terminateInstances(ask: Ask): Readonly<Record<string, Xml>> {
  const { world, nowMs } = ask;
  return change(ask, 'instancesSet', (instance) => {
    if (!isOver(instance, nowMs)) end(world, instance, { atMs: nowMs, reason: BY_USER });
  });
}

function stop(world: World, instance: Instance, { atMs, reason }: { atMs: number; reason: StateReason }): void {
  follow(instance, [
    { atMs, state: 'stopping', reason },
    { atMs: atMs + world.behaviour.stopMs, state: 'stopped', reason },
  ]);
  world.changed(instance);
}

/** Someone in the instance shuts it down: it ends or stops, as its launch said. */
export function shutDown(world: World, instance: Instance): void {
  const atMs = world.clock.now();
  if (isOver(instance, atMs)) return;
  (instance.atShutdown === 'terminate' ? end : stop)(world, instance, { atMs, reason: FROM_WITHIN });
}

function refuseState(instance: Instance, state: StateName, verb: string): never {
  throw refusal(
    'IncorrectInstanceState',
    `This instance '${instance.id}' is not in a state from which it can be ${verb} (${state}).`,
  );
}

export function stopInstances(ask: Ask): Readonly<Record<string, Xml>> {
  const { world, nowMs } = ask;
  const stoppable = (instance: Instance): void => {
    const state = stateAt(instance, nowMs);
    if (isOver(instance, nowMs)) refuseState(instance, state, 'stopped');
    if (instance.spotRequest !== undefined) {
      throw refusal(
        'UnsupportedOperation',
        `You can't stop the Spot Instance '${instance.id}' because it is associated with a one-time Spot Instance request. You can only stop Spot Instances associated with persistent Spot Instance requests.`,
      );
    }
  };
  for (const instance of named(ask, textsAt(ask.params, 'InstanceId'))) stoppable(instance);
  return change(ask, 'instancesSet', (instance) => {
    if (['stopping', 'stopped'].includes(stateAt(instance, nowMs))) return;
    stop(world, instance, { atMs: nowMs, reason: BY_USER });
  });
}

/** A stopped instance has no claim on capacity: there must be enough when it starts. */
function checkCapacity({ region, nowMs }: Ask, stopped: readonly Instance[]): void {
  for (const members of Map.groupBy(stopped, ({ type, zone }) => `${type} ${zone}`).values()) {
    const [{ type: name, zone, spotRequest }] = members as [Instance];
    const type = region.types.get(name);
    const isSpot = spotRequest !== undefined;
    if (type) take({ region, type, zone, isSpot, nowMs }, { least: members.length, most: members.length });
  }
}

export function startInstances(ask: Ask): Readonly<Record<string, Xml>> {
  const { world, nowMs } = ask;
  const instances = named(ask, textsAt(ask.params, 'InstanceId'));
  for (const instance of instances) {
    const state = stateAt(instance, nowMs);
    if (isOver(instance, nowMs) || state === 'stopping') refuseState(instance, state, 'started');
  }
  const stopped = instances.filter((instance) => stateAt(instance, nowMs) === 'stopped');
  checkCapacity(ask, stopped);
  return change(ask, 'instancesSet', (instance) => {
    if (stateAt(instance, nowMs) !== 'stopped') return;
    instance.launchedAtMs = nowMs;
    follow(instance, [
      { atMs: nowMs, state: 'pending' },
      { atMs: nowMs + world.behaviour.bootMs, state: 'running' },
    ]);
    world.changed(instance);
  });
}

/** AWS takes a spot instance back: first the notice on the machine, then the end. */
export function interrupt(world: World, instance: Instance): void {
  const atMs = world.clock.now() + world.behaviour.spotNoticeMs;
  instance.interruption = { action: 'terminate', atMs };
  end(world, instance, { atMs, reason: BY_SPOT });
}

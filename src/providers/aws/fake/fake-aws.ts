import type { Clock } from '#core/clock.ts';
import type { Random } from '#core/random.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { type Limits, noLimits, openBuckets } from '#fakes/limits.ts';
import { refusal } from '#fakes/refusal.ts';
import { SERVICES } from './answer.ts';
import { refuseFlaws } from './check-call.ts';
import { interrupt } from './ec2/change-state.ts';
import type { Instance } from './ec2/instance.ts';
import type { Task } from './ecs/task.ts';
import { requestId } from './hex-id.ts';
import { tooMuch } from './limits.ts';
import { admit, checkRight, openPrincipals, type Principals } from './principals.ts';
import { emptyRegion, type Region } from './region.ts';
import { fillRegion } from './seed-data.ts';
import { type AwsCall, readCall, type Service } from './wire/read-call.ts';
import { type Behaviour, USUAL_BEHAVIOUR, type World } from './world.ts';

export interface FakeAwsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly account?: string | undefined;
  readonly behaviour?: Partial<Behaviour> | undefined;
  /** Default: none. */
  readonly limits?: Limits<AwsCall> | undefined;
  /** Fills a region when it is first used; default: the seed data. */
  readonly fillRegion?: ((region: Region, world: World) => void) | undefined;
}

/** A call that reached the fake AWS. */
export interface Call extends RecordedCall {
  readonly service: Service;
  readonly accessKey: string | undefined;
  /** As the wire had them: `MaxCount: '3'` for EC2, JSON values for SSM. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A fake AWS: one account, all regions, its state apart from its clients. */
export interface FakeAws extends Answering<AwsCall, Call> {
  /** All instances that AWS remembers, without lag or pages. */
  machines(region?: string): Instance[];
  region(name: string): Region;
  readonly behaviour: Behaviour;
  readonly principals: Principals;
  limits: Limits<AwsCall>;
  readonly world: World;
  /** Takes a spot instance back, after the notice. */
  interrupt(instanceId: string): void;
  /** Calls with each instance whose states to come have changed. */
  watch(changed: (instance: Instance) => void): () => void;
  /** All tasks of ECS that it remembers, without lag or pages. */
  tasks(region?: string): Task[];
  /** Calls with each task whose states to come have changed. */
  watchTasks(changed: (task: Task) => void): () => void;
}

const ACCOUNT = '123456789012';

function openWorld(
  options: FakeAwsOptions,
  principals: Principals,
  { changed, taskChanged }: Pick<World, 'changed' | 'taskChanged'>,
): World {
  const regions = new Map<string, Region>();
  let sequence = 0;
  const world: World = {
    account: options.account ?? ACCOUNT,
    clock: options.clock,
    random: options.random,
    behaviour: { ...USUAL_BEHAVIOUR, ...options.behaviour },
    region(name) {
      const known = regions.get(name);
      if (known) return known;
      const region = emptyRegion(name);
      regions.set(name, region);
      (options.fillRegion ?? fillRegion)(region, world);
      return region;
    },
    regions: () => regions.values(),
    nextSequence() {
      sequence += 1;
      return sequence;
    },
    grant: (accessKey, arn) => principals.name(accessKey, arn),
    secrets: new Map(),
    changed,
    taskChanged,
  };
  return world;
}

/** Carries a call out, from admission to answer. */
function answerer(world: World, principals: Principals, limits: () => Limits<AwsCall>) {
  const take = openBuckets<AwsCall>({ limits, tooMuch: ({ service }) => tooMuch[service]() });
  return (call: AwsCall): Response => {
    const nowMs = world.clock.now();
    const principal = admit(principals, call);
    take(call, nowMs);
    checkRight(principal, call, world.account);
    if (call.isGarbled) throw refusal('SerializationException', 'The body of the request is no JSON.');
    refuseFlaws(call);
    const { params, body } = call;
    const ask = { world, region: world.region(call.region), nowMs, params, body, principal };
    return SERVICES[call.service].answer({ action: call.action, requestId: requestId(world.random) }, ask);
  };
}

function recordOf({ service, action, region, accessKey, body }: AwsCall, atMs: number): Call {
  return { service, action, region, accessKey, parameters: body, atMs, outcome: 'open' };
}

export function openFakeAws(options: FakeAwsOptions): FakeAws {
  const watchers = new Set<(instance: Instance) => void>();
  const taskWatchers = new Set<(task: Task) => void>();
  const principals = openPrincipals(options.account ?? ACCOUNT);
  const world = openWorld(options, principals, {
    changed(instance) {
      for (const changed of watchers) changed(instance);
    },
    taskChanged(task) {
      for (const changed of taskWatchers) changed(task);
    },
  });
  const regionsNamed = (region: string | undefined) =>
    [...world.regions()].filter(({ name }) => region === undefined || name === region);
  const answering = openAnswering<AwsCall, Call>(
    {
      read: readCall,
      record: recordOf,
      answer: answerer(world, principals, () => fake.limits),
      refuse: ({ service, action }, refused) =>
        SERVICES[service].refuse({ action, requestId: requestId(world.random) }, refused),
      tooMuch: ({ service }) => tooMuch[service](),
    },
    world.clock,
  );

  const fake: FakeAws = {
    ...answering,
    machines: (region) => regionsNamed(region).flatMap(({ instances }) => [...instances.values()]),
    tasks: (region) => regionsNamed(region).flatMap(({ tasks }) => [...tasks.values()]),
    region: (name) => world.region(name),
    behaviour: world.behaviour,
    principals,
    limits: options.limits ?? noLimits,
    world,
    interrupt(instanceId) {
      const instance = fake.machines().find(({ id }) => id === instanceId);
      if (instance) interrupt(world, instance);
    },
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    watchTasks(changed) {
      taskWatchers.add(changed);
      return () => void taskWatchers.delete(changed);
    },
  };
  return fake;
}

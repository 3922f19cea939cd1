import type { Clock } from '#core/clock.ts';
import type { Random } from '#core/random.ts';
import { SERVICES } from './answer.ts';
import { type Call, callOf } from './calls.ts';
import { interrupt } from './ec2/change-state.ts';
import type { Instance } from './ec2/instance.ts';
import { furnish } from './furniture.ts';
import { requestId } from './hex-id.ts';
import { type Limits, noLimits, openBuckets, tooMuch } from './limits.ts';
import { type Mishaps, openMishaps, suffer } from './mishaps.ts';
import { admit, checkRight, openPrincipals, type Principals } from './principals.ts';
import { isRefusal, refusal } from './refusal.ts';
import { emptyRegion, type Region } from './region.ts';
import { readCall, type WireCall } from './wire/read-call.ts';
import { type Behaviour, USUAL_BEHAVIOUR, type World } from './world.ts';

export interface FakeAwsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly account?: string | undefined;
  readonly behaviour?: Partial<Behaviour> | undefined;
  /** How often it may be called; without them as often as one likes. */
  readonly limits?: Limits | undefined;
  /** Fills a region when it is first spoken of; the usual furniture where not said. */
  readonly furnish?: ((region: Region, world: World) => void) | undefined;
}

/** A simulated AWS: one account, all regions, its state apart from whoever calls it. */
export interface FakeAws {
  /** Answers as AWS would; rejects where no answer would come. */
  handle(request: Request): Promise<Response>;
  readonly fetch: typeof fetch;
  /** The calls that arrived, the oldest first; of very many the latest. */
  readonly calls: Call[];
  /** How many calls of an action ever arrived. */
  countOf(action: string): number;
  /** All instances that AWS remembers, past any client, lag and page. */
  machines(region?: string): Instance[];
  region(name: string): Region;
  readonly behaviour: Behaviour;
  readonly mishaps: Mishaps;
  readonly principals: Principals;
  limits: Limits;
  readonly world: World;
  /** Takes a spot instance back, after the notice. */
  interrupt(instanceId: string): void;
  /** Calls with each instance whose states to come have changed. */
  watch(changed: (instance: Instance) => void): () => void;
}

const ACCOUNT = '123456789012';
const MOST_CALLS = 20_000;

function openWorld(options: FakeAwsOptions, principals: Principals, changed: (instance: Instance) => void): World {
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
      (options.furnish ?? furnish)(region, world);
      return region;
    },
    regions: () => regions.values(),
    nextSequence() {
      sequence += 1;
      return sequence;
    },
    grant: (accessKey, arn) => principals.name(accessKey, arn),
    changed,
  };
  return world;
}

/** Carries a call out, from admission to answer. */
function answerer(world: World, principals: Principals, limits: () => Limits) {
  const take = openBuckets(limits);
  return (call: WireCall): Response => {
    const nowMs = world.clock.now();
    const principal = admit(principals, call);
    take(call, nowMs);
    checkRight(principal, call, world.account);
    if (call.isGarbled) throw refusal('SerializationException', 'The body of the request is no JSON.');
    const { params, body } = call;
    const ask = { world, region: world.region(call.region), nowMs, params, body, principal };
    return SERVICES[call.service].answer({ action: call.action, requestId: requestId(world.random) }, ask);
  };
}

export function openFakeAws(options: FakeAwsOptions): FakeAws {
  const watchers = new Set<(instance: Instance) => void>();
  const principals = openPrincipals(options.account ?? ACCOUNT);
  const world = openWorld(options, principals, (instance) => {
    for (const changed of watchers) changed(instance);
  });
  const mishaps = openMishaps();
  const counts = new Map<string, number>();
  const answer = answerer(world, principals, () => fake.limits);

  async function carryOut(call: WireCall, logged: Call, signal: AbortSignal): Promise<Response> {
    const doIt = async (): Promise<Response> => answer(call);
    const what = mishaps.take(call);
    if (!what) return doIt();
    logged.outcome = what.kind;
    const scene = { clock: world.clock, signal, tooMuch: tooMuch[call.service] };
    return suffer(what, scene, doIt);
  }

  function note(logged: Call): void {
    counts.set(logged.action, fake.countOf(logged.action) + 1);
    fake.calls.push(logged);
    if (fake.calls.length > MOST_CALLS) fake.calls.splice(0, MOST_CALLS / 2);
  }

  async function handle(request: Request): Promise<Response> {
    const call = await readCall(request);
    const logged = callOf(call, world.clock.now());
    note(logged);
    try {
      const response = await carryOut(call, logged, request.signal);
      if (logged.outcome === 'open') logged.outcome = 'ok';
      return response;
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      logged.outcome = thrown.code;
      return SERVICES[call.service].refuse({ action: call.action, requestId: requestId(world.random) }, thrown);
    }
  }

  const fake: FakeAws = {
    handle,
    fetch: (input, init) => handle(new Request(input, init)),
    calls: [],
    countOf: (action) => counts.get(action) ?? 0,
    machines: (region) =>
      [...world.regions()]
        .filter(({ name }) => region === undefined || name === region)
        .flatMap(({ instances }) => [...instances.values()]),
    region: (name) => world.region(name),
    behaviour: world.behaviour,
    mishaps,
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
  };
  return fake;
}

import type { Instance } from '@aws-sdk/client-ec2';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault, isUnclear } from '#core/fault.ts';
import { stemOf } from '#core/id.ts';
import type { Backend, Launch, Outcome, PendingCreate } from '#core/provider.ts';
import type { Ec2Calls, Service } from '../client.ts';
import type { LaunchConfig } from '../config.ts';
import { codeOf } from '../faults.ts';
import { findInstances } from './find.ts';
import { troubleOf } from './machine.ts';
import { launchNameOf, tagsOf } from './marks.ts';
import { type Found, type RunCall, runRequest } from './request.ts';

/** One call makes all names that differ only in their place; others are made one by one. */
function callsFor({ id, names }: Launch): readonly RunCall[] {
  const stem = names.length > 1 ? stemOf(names) : undefined;
  if (stem !== undefined) return [{ who: { stem }, names, token: id }];
  const tokenOf = (place: number): string => (names.length === 1 ? id : `${id}-${place}`);
  return names.map((name, place) => ({ who: { name }, names: [name], token: tokenOf(place) }));
}

const LONGEST_WAIT_MS = 60_000;

// EC2 says yes first, and finds out within minutes. Until then an instance that it does not show may be listed late.
const PENDING_MS = 10 * MINUTE_MS;
const PAST_PENDING = ['running', 'stopping', 'stopped', 'shutting-down', 'terminated'];

export interface CreationDeps {
  readonly ec2: Service<Ec2Calls>;
  readonly config: LaunchConfig;
  find(signal: AbortSignal): Promise<Found>;
}

export function creationOf({ ec2, config, find }: CreationDeps): Required<Pick<Backend, 'create' | 'check'>> {
  const { clock, region } = ec2;

  /** Why a name got no machine although the call went well. */
  function shortfall(names: readonly string[], got: number, most: number): (place: number) => Fault {
    const none = new Fault('exhausted', `EC2 in ${region} launched ${got} of ${most}: it has no capacity for more.`, {
      remedy: 'Wait, or offer another type, zone or market.',
    });
    const late = new Fault('throttled', `EC2 in ${region} allows this account to start ${most} machines now.`, {
      retryAfterMs: Math.min(LONGEST_WAIT_MS, (names.length - most) * 500),
      remedy: 'Wait; the rate limit of RunInstances refills.',
    });
    return (place) => (place < most ? none : late);
  }

  /** What became of each name, by the place of its instance in the launch; the client token finds the instances again. */
  function outcomesOf(
    { names, token }: RunCall,
    instances: readonly Instance[],
    faultAt?: (place: number) => Fault,
  ): Outcome[] {
    const byPlace = new Map(instances.map((instance) => [instance.AmiLaunchIndex ?? 0, instance]));
    const operation = `${token} ${clock.now()}`;
    return names.flatMap((name, place): Outcome[] => {
      const instance = byPlace.get(place);
      if (!instance) return faultAt ? [{ name, fault: faultAt(place) }] : [];
      return [{ name, operation, ...(config.useInstanceIdAsName && { machine: instance.InstanceId }) }];
    });
  }

  async function run(launch: Launch, call: RunCall, { found, signal }: { found: Found; signal: AbortSignal }) {
    const most = Math.min(call.names.length, Math.max(1, ec2.rates.room('RunInstances')));
    const request = runRequest(config, launch, { call, found, most });
    try {
      const { Instances = [] } = await ec2.ask('RunInstances', request, { signal, machines: most });
      if (Instances.length === 0)
        throw new Fault('unavailable', `EC2 in ${region} did not list the instances that it launched.`);
      return outcomesOf(call, Instances, shortfall(call.names, Instances.length, most));
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (codeOf(fault.cause) !== 'IdempotentParameterMismatch') throw fault;
      // The token was used with other words before: that call was carried out, and what it made is the answer.
      return outcomesOf(call, await findInstances(ec2, [{ Name: 'client-token', Values: [call.token] }], signal));
    }
  }

  async function create(launch: Launch, signal: AbortSignal): Promise<Outcome[]> {
    if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
    const found = await find(signal);
    const calls = callsFor(launch);
    const [only] = calls;
    if (only && calls.length === 1) return run(launch, only, { found, signal });
    const unclear: Fault[] = [];
    const tried = calls.map((call) =>
      run(launch, call, { found, signal }).catch((thrown): Outcome[] => {
        const fault = Fault.from(thrown);
        // A name that is left out says that it is not known what became of it.
        if (!isUnclear(fault.kind)) return call.names.map((name) => ({ name, fault }));
        unclear.push(fault);
        return [];
      }),
    );
    const outcomes = (await Promise.all(tried)).flat();
    if (outcomes.length === 0 && unclear[0]) throw unclear[0];
    return outcomes;
  }

  async function check(pending: readonly PendingCreate[], signal: AbortSignal): Promise<Outcome[]> {
    const tokens = new Set(pending.map(({ operation }) => operation.split(' ')[0] ?? ''));
    const filters = [
      { Name: 'client-token', Values: [...tokens] },
      { Name: 'instance-state-name', Values: PAST_PENDING },
    ];
    const found = await findInstances(ec2, filters, signal);
    const byName = new Map(found.map((instance) => [launchNameOf(instance, tagsOf(instance)), instance]));
    return pending.flatMap(({ name, operation }): Outcome[] => {
      const instance = byName.get(name);
      const agreedAt = Number(operation.split(' ')[1]);
      if (!instance) return clock.now() - agreedAt < PENDING_MS ? [{ name, operation }] : [];
      const trouble = troubleOf(instance);
      if (trouble) return [{ name, fault: new Fault(trouble.kind, trouble.message) }];
      return instance.State?.Name === 'running' ? [{ name }] : [];
    });
  }

  return { create, check };
}

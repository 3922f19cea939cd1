import type { Instance } from '@aws-sdk/client-ec2';
import { Fault, isUnclear } from '#core/fault.ts';
import { stemOf } from '#core/id.ts';
import type { Launch, Outcome } from '#core/provider.ts';
import type { Ec2Calls, Service } from '../client.ts';
import type { LaunchConfig } from '../config.ts';
import { codeOf } from '../faults.ts';
import { findInstances } from './instances.ts';
import { type Found, type RunCall, runRequest } from './request.ts';
import { readTemplate } from './template.ts';

/** One call makes all names that differ only in their place; others are made one by one. */
function callsFor({ id, names }: Launch): readonly RunCall[] {
  const stem = names.length > 1 ? stemOf(names) : undefined;
  if (stem !== undefined) return [{ who: { stem }, names, token: id }];
  const tokenOf = (place: number): string => (names.length === 1 ? id : `${id}-${place}`);
  return names.map((name, place) => ({ who: { name }, names: [name], token: tokenOf(place) }));
}

const LAUNCHES_KEPT = 256;
const LONGEST_WAIT_MS = 60_000;

export interface CreatorDeps {
  readonly ec2: Service<Ec2Calls>;
  readonly config: LaunchConfig;
  image(signal: AbortSignal): Promise<string | undefined>;
}

export function creatorOf({ ec2, config, image }: CreatorDeps) {
  const findings = new Map<string, Promise<Found>>();

  /** Template and image as they were when the launch was first tried: a repeat must not ask for something else. */
  function findFor({ id }: Launch, signal: AbortSignal): Promise<Found> {
    const known = findings.get(id);
    if (known !== undefined) return known;
    const made = Promise.all([readTemplate(ec2, config, signal), image(signal)]).then(([template, image]) => ({
      template,
      image,
    }));
    findings.set(id, made);
    made.catch(() => findings.delete(id));
    for (const oldest of findings.keys()) {
      if (findings.size <= LAUNCHES_KEPT) break;
      findings.delete(oldest);
    }
    return made;
  }

  const outcomeOf = (name: string, { InstanceId }: Instance): Outcome =>
    config.useInstanceIdAsName ? { name, machine: InstanceId } : { name };

  /** Why a name got no machine although the call went well. */
  function shortfall(names: readonly string[], got: number, most: number): (place: number) => Fault {
    const none = new Fault(
      'exhausted',
      `EC2 in ${ec2.region} launched ${got} of ${most}: it has no capacity for more.`,
      {
        remedy: 'Wait, or offer another type, zone or market.',
      },
    );
    const left = names.length - most;
    const retryAfterMs = Math.min(LONGEST_WAIT_MS, left * 500);
    const late = new Fault('throttled', `EC2 in ${ec2.region} allows this account to start ${most} machines now.`, {
      retryAfterMs,
      remedy: 'Wait; the rate limit of RunInstances refills.',
    });
    return (place) => (place < most ? none : late);
  }

  async function run(launch: Launch, call: RunCall, signal: AbortSignal): Promise<Outcome[]> {
    const found = await findFor(launch, signal);
    const most = Math.min(call.names.length, Math.max(1, ec2.rates.room('RunInstances')));
    const request = runRequest(config, launch, { call, found, most });
    try {
      const { Instances = [] } = await ec2.ask('RunInstances', request, { signal, machines: most });
      if (Instances.length === 0)
        throw new Fault('unavailable', `EC2 in ${ec2.region} did not list the instances that it launched.`);
      const made = placed(Instances);
      const why = shortfall(call.names, made.size, most);
      return call.names.map((name, place) => {
        const instance = made.get(place);
        return instance ? outcomeOf(name, instance) : { name, fault: why(place) };
      });
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (codeOf(fault.cause) !== 'IdempotentParameterMismatch') throw fault;
      return earlier(call, signal);
    }
  }

  /** The token was used with other words before: that call was carried out, and what it made is the answer. */
  async function earlier({ token, names }: RunCall, signal: AbortSignal): Promise<Outcome[]> {
    const made = placed(await findInstances(ec2, [{ Name: 'client-token', Values: [token] }], signal));
    return names.flatMap((name, place) => {
      const instance = made.get(place);
      return instance ? [outcomeOf(name, instance)] : [];
    });
  }

  return async (launch: Launch, signal: AbortSignal): Promise<Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
    const [only, ...more] = callsFor(launch);
    if (only && more.length === 0) return run(launch, only, signal);
    const unclear: Fault[] = [];
    const tried = callsFor(launch).map((call) =>
      run(launch, call, signal).catch((thrown): Outcome[] => {
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
  };
}

/** Instances by their place in their launch. */
function placed(instances: readonly Instance[]): ReadonlyMap<number, Instance> {
  return new Map(instances.map((instance) => [instance.AmiLaunchIndex ?? 0, instance]));
}

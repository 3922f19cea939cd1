// Machines are looked up in the cloud before anything is done to them: only what bears our mark there is touched.
import type { DescribeInstancesCommandInput, Filter, Instance } from '@aws-sdk/client-ec2';
import { chunked } from '#core/chunked.ts';
import { Fault } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import { inPages } from '#rest/retry.ts';
import type { Ec2Calls, Service } from '../client.ts';
import { CLUSTER, markOf, NAME } from '../marks.ts';
import { nameOf, STEM, tagsOf } from './marks.ts';

// The SDK takes about a quarter of a millisecond for one instance: larger pages would hold up everything else.
const PAGE = 200;

// As many values as a filter takes.
const MOST_VALUES = 200;

type Question = Pick<DescribeInstancesCommandInput, 'Filters' | 'InstanceIds' | 'MaxResults'>;

async function everyPage(ec2: Service<Ec2Calls>, question: Question, signal: AbortSignal): Promise<Instance[]> {
  const found: Instance[] = [];
  await inPages(ec2.clock, signal, async (token) => {
    const input = { ...question, ...(token ? { NextToken: token } : {}) };
    const { Reservations, NextToken } = await ec2.ask('DescribeInstances', input, { signal });
    // EC2 always sends the set, also an empty one: without it the answer came from someone else.
    if (!Reservations) throw new Fault('unavailable', 'EC2 answered a listing without a list of instances.');
    for (const { Instances = [] } of Reservations) found.push(...Instances);
    return NextToken;
  });
  return found;
}

/** All instances that fit, every page of them, or throws. */
export const findInstances = (
  ec2: Service<Ec2Calls>,
  filters: readonly Filter[],
  signal: AbortSignal,
): Promise<Instance[]> => everyPage(ec2, { Filters: [...filters], MaxResults: PAGE }, signal);

const INSTANCE_ID = /^i-[0-9a-f]{8,}$/;
const idOf = ({ id, name }: Machine): string | undefined => id ?? (INSTANCE_ID.test(name) ? name : undefined);

async function instanceById(ec2: Service<Ec2Calls>, id: string, signal: AbortSignal): Promise<Instance | undefined> {
  try {
    return (await everyPage(ec2, { InstanceIds: [id] }, signal))[0];
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return undefined;
    throw fault;
  }
}

/** What was asked for, in order: the instances of each, or why it is not touched. */
export interface Target {
  readonly machine: Machine;
  readonly instances: readonly Instance[];
  readonly refusal?: Fault | undefined;
}

export interface Finder {
  readonly ec2: Service<Ec2Calls>;
  readonly cluster: string;
}

/** Finds machines by id, or by name where the caller knows no id; a foreign mark is refused. */
export async function findTargets(
  { ec2, cluster }: Finder,
  machines: readonly Machine[],
  signal: AbortSignal,
): Promise<Target[]> {
  if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
  const ours = machines.filter(({ mark }) => mark?.cluster === cluster);
  const byId = new Map<string, Instance>();
  const byName = new Map<string, Instance[]>();

  async function look(filter: string, values: readonly string[]): Promise<void> {
    for (const some of chunked([...new Set(values)], MOST_VALUES)) {
      const filters = [
        { Name: filter, Values: some },
        { Name: `tag:${CLUSTER}`, Values: [cluster] },
      ];
      for (const instance of await findInstances(ec2, filters, signal)) {
        const name = nameOf(instance) ?? '';
        byId.set(instance.InstanceId ?? '', instance);
        byName.set(name, [...(byName.get(name) ?? []), instance]);
      }
    }
  }

  /** Those that no listing shows are asked for one by one: only so does EC2 say that one is gone. */
  async function lookFor(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const found = await instanceById(ec2, id, signal);
      if (found) byId.set(id, found);
    }
  }

  const nameless = ours.filter((machine) => idOf(machine) === undefined).map(({ name }) => name);
  const ids = ours.flatMap((machine) => idOf(machine) ?? []);
  await look('instance-id', ids);
  await lookFor(ids.filter((id) => !byId.has(id)));
  await look(`tag:${NAME}`, nameless);
  await look(
    `tag:${STEM}`,
    nameless.filter((name) => !byName.has(name)).map((name) => name.slice(0, -2)),
  );

  return machines.map((machine) => {
    const id = idOf(machine);
    const one = id === undefined ? undefined : byId.get(id);
    const instances = id === undefined ? (byName.get(machine.name) ?? []) : one ? [one] : [];
    const isOurs = instances.every((instance) => markOf(tagsOf(instance))?.cluster === cluster);
    if (machine.mark?.cluster === cluster && isOurs) return { machine, instances };
    const refusal = new Fault('denied', `${machine.name} is not a machine of this cluster.`);
    return { machine, instances: [], refusal };
  });
}

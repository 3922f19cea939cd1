import type { Filter, Instance } from '@aws-sdk/client-ec2';
import { Fault } from '#core/fault.ts';
import { inPages } from '#rest/retry.ts';
import type { Ec2Calls, Service } from '../client.ts';

// The SDK takes about a quarter of a millisecond for one: larger pages would hold up everything else.
const PAGE = 200;

/** All instances that fit, every page of them, or throws. */
export async function findInstances(
  ec2: Service<Ec2Calls>,
  filters: readonly Filter[],
  signal: AbortSignal,
): Promise<Instance[]> {
  const found: Instance[] = [];
  await inPages(ec2.clock, signal, async (token) => {
    const input = { Filters: [...filters], MaxResults: PAGE, ...(token ? { NextToken: token } : {}) };
    const { Reservations, NextToken } = await ec2.ask('DescribeInstances', input, { signal });
    // EC2 always sends the set, also an empty one: without it the answer came from someone else.
    if (!Reservations) throw new Fault('unavailable', 'EC2 answered a listing without a list of instances.');
    for (const { Instances = [] } of Reservations) found.push(...Instances);
    return NextToken;
  });
  return found;
}

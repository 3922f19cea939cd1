// The public addresses of tasks: ECS names the interface of a task, and EC2 its address.
import { chunked } from '#core/chunked.ts';
import type { Log } from '#core/log.ts';
import { bestEffort } from '#rest/best-effort.ts';
import { inPages } from '#rest/retry.ts';
import type { Ec2Calls, Service } from '../client.ts';

export interface Addresses {
  /** By interface; one without a public address is left out, and each is asked for until EC2 shows it. */
  of(interfaces: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
}

// As many values as a filter takes. A list of ids would fail as a whole for one that is gone.
const MOST_VALUES = 200;

export function openAddresses(ec2: () => Promise<Service<Ec2Calls>>, log: Log): Addresses {
  /** The address of an interface stays; undefined: it has none. */
  const known = new Map<string, string | undefined>();

  async function look(interfaces: string[], signal: AbortSignal): Promise<void> {
    const service = await ec2();
    await inPages(service.clock, signal, async (token) => {
      const Filters = [{ Name: 'network-interface-id', Values: interfaces }];
      const input = { Filters, MaxResults: MOST_VALUES, ...(token ? { NextToken: token } : {}) };
      const page = await service.ask('DescribeNetworkInterfaces', input, { signal });
      for (const { NetworkInterfaceId = '', Association } of page.NetworkInterfaces ?? [])
        known.set(NetworkInterfaceId, Association?.PublicIp);
      return page.NextToken;
    });
  }

  return {
    async of(interfaces, signal) {
      const wanted = new Set(interfaces);
      for (const one of known.keys()) if (!wanted.has(one)) known.delete(one);
      const unknown = interfaces.filter((one) => !known.has(one));
      const warning = 'cannot find out the public addresses of tasks';
      for (const some of chunked(unknown, MOST_VALUES))
        await bestEffort({ log, signal, warning }, () => look(some, signal));
      return new Map([...known].flatMap(([one, ip]) => (ip === undefined ? [] : [[one, ip] as const])));
    },
  };
}

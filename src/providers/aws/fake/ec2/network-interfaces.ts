import { isActive, type Task } from '../ecs/task.ts';
import { textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { ec2Page, readPageSize } from './describe-instances.ts';
import { filterOf } from './filters.ts';

/** The interfaces of tasks of ECS; those of instances are not kept apart. */
export function describeNetworkInterfaces(ask: Ask): Readonly<Record<string, Xml>> {
  const { region, world, params, nowMs } = ask;
  const ids = new Set(textsAt(params, 'NetworkInterfaceId'));
  const passes = filterOf<Task>(
    params,
    (task, name) => [name === 'network-interface-id' ? task.interfaceId : task.subnetId],
    new Set(['network-interface-id', 'subnet-id']),
  );
  const all = [...region.tasks.values()].filter((task) => isActive(task, nowMs));
  const found = all.filter((task) => (ids.size === 0 || ids.has(task.interfaceId)) && passes(task));
  const size = readPageSize(ask, { least: 5, most: 1_000 });
  const { items, token } = ec2Page(
    ask,
    found.toSorted((a, b) => (a.interfaceId < b.interfaceId ? -1 : 1)),
    { size, keyOf: ({ interfaceId }) => interfaceId },
  );
  return {
    networkInterfaceSet: items.map((task) => ({
      networkInterfaceId: task.interfaceId,
      subnetId: task.subnetId,
      availabilityZone: task.zone,
      ownerId: world.account,
      privateIpAddress: task.privateIp,
      status: 'in-use',
      interfaceType: 'interface',
      association: task.publicIp && { publicIp: task.publicIp, ipOwnerId: 'amazon' },
    })),
    nextToken: token,
  };
}

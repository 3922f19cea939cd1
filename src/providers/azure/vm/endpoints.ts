// Where the ports of machines are reached. A machine itself shows no address: its interfaces and their public addresses do.
// Addresses stay as long as the machine, so they are read once for each.
import type { MachineEndpoint } from '#core/provider.ts';
import { bestEffort } from '#rest/best-effort.ts';
import { NETWORK_VERSION, type Part, type VirtualMachine } from './api.ts';
import type { Group } from './group.ts';
import { portIn, stateOf } from './marks.ts';

const isServing = (vm: VirtualMachine): boolean => portIn(vm) !== undefined && stateOf(vm) === 'running';

function listParts({ arm, path }: Group, type: string, signal: AbortSignal): Promise<Part[]> {
  return arm.all<Part>({ path: `${path}/providers/Microsoft.Network/${type}`, apiVersion: NETWORK_VERSION }, signal);
}

/** The addresses by the ids of machines, in small letters: public ones first. */
async function readAddresses(group: Group, signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
  const [interfaces, addresses] = [
    await listParts(group, 'networkInterfaces', signal),
    await listParts(group, 'publicIPAddresses', signal),
  ];
  const byId = new Map(addresses.map(({ id, properties }) => [id.toLowerCase(), properties?.ipAddress]));
  const found = interfaces.map(({ properties = {} }) => {
    const ips = properties.ipConfigurations ?? [];
    const outer = ips.map((ip) => byId.get(ip.properties?.publicIPAddress?.id.toLowerCase() ?? ''));
    const inner = ips.map((ip) => ip.properties?.privateIPAddress);
    const hosts = [...outer, ...inner].filter((host) => host !== undefined);
    return [properties.virtualMachine?.id.toLowerCase() ?? '', hosts] as const;
  });
  return new Map(found);
}

/** Learns the addresses of machines that run with a port; those of machines that are gone are forgotten. */
export async function learnAddresses(group: Group, vms: readonly VirtualMachine[], signal: AbortSignal): Promise<void> {
  const { addresses } = group.seen;
  const serving = new Map(vms.filter(isServing).map((vm) => [vm.properties.vmId, vm]));
  for (const id of addresses.keys()) if (!serving.has(id)) addresses.delete(id);
  const unknown = [...serving].filter(([id]) => !addresses.has(id));
  if (unknown.length === 0) return;
  await bestEffort({ log: group.log, signal, warning: 'cannot read the addresses of machines' }, async () => {
    const found = await readAddresses(group, signal);
    for (const [id, vm] of unknown) {
      const hosts = found.get(vm.id.toLowerCase()) ?? [];
      if (hosts.length > 0) addresses.set(id, hosts);
    }
  });
}

/** Where the port of a machine is reached, as far as its addresses are known. */
export function endpointsOf({ seen }: Group, vm: VirtualMachine): readonly MachineEndpoint[] {
  const port = portIn(vm);
  if (port === undefined) return [];
  return (seen.addresses.get(vm.properties.vmId) ?? []).map((host) => ({ host, port }));
}

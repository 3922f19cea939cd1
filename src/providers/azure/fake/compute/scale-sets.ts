import type { Tags } from './machine.ts';

/** A scale set as Azure keeps it. */
export interface FakeScaleSet {
  readonly id: string;
  readonly name: string;
  readonly location: string;
  readonly zones?: readonly string[];
  readonly tags?: Tags;
  readonly identity?: object;
  readonly plan?: object;
  readonly sku: { readonly name: string; readonly capacity: number };
  readonly properties: {
    readonly orchestrationMode: 'Flexible' | 'Uniform';
    readonly virtualMachineProfile?: Readonly<Record<string, unknown>>;
  };
  /** Until then it is being made or changed. */
  readonly readyAtMs?: number;
}

/** What scales a set by itself. */
export interface FakeAutoscale {
  readonly id: string;
  readonly name: string;
  readonly properties: { readonly enabled: boolean; readonly targetResourceUri: string };
}

/** A public key whose other half nobody has. */
export const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';

export type SetChanges = Partial<FakeScaleSet> & { readonly name: string; readonly profile?: object };

/** A flexible set as Terraform makes it, with what Azure shows of its profile; `group` is the id of the resource group. */
export function flexibleSet(group: string, { profile, ...own }: SetChanges): FakeScaleSet {
  const subnet = { id: `${group}/providers/Microsoft.Network/virtualNetworks/velda-network/subnets/agents` };
  const address = { name: 'public', properties: { dnsSettings: { domainNameLabel: 'x' } }, sku: { name: 'Standard' } };
  const ip = { name: 'internal', properties: { primary: true, subnet, publicIPAddressConfiguration: address } };
  const publicKeys = [{ path: '/home/azureuser/.ssh/authorized_keys', keyData: PUBLIC_KEY }];
  return {
    id: `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/${own.name}`,
    location: 'westeurope',
    sku: { name: 'Standard_D2s_v5', capacity: 0 },
    ...own,
    properties: own.properties ?? {
      orchestrationMode: 'Flexible',
      virtualMachineProfile: {
        timeCreated: '2026-11-01T00:00:00Z',
        osProfile: {
          computerNamePrefix: 'agent',
          adminUsername: 'azureuser',
          linuxConfiguration: { disablePasswordAuthentication: true, ssh: { publicKeys } },
        },
        storageProfile: {
          imageReference: { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku: 'server', version: 'latest' },
          osDisk: {
            createOption: 'FromImage',
            caching: 'ReadWrite',
            managedDisk: { storageAccountType: 'Premium_LRS' },
          },
        },
        networkProfile: {
          networkInterfaceConfigurations: [{ name: 'nic', properties: { primary: true, ipConfigurations: [ip] } }],
        },
        ...profile,
      },
    },
  };
}

// One request to a fake Azure, from somebody who may do everything.
import { VirtualClock } from '#core/virtual-clock.ts';
import { openStore } from './app-configuration/store.ts';
import { PUBLIC_KEY } from './compute/scale-sets.ts';
import { type FakeAzure, openFakeAzure } from './fake-azure.ts';

export const SUBSCRIPTION_URL = 'https://management.azure.com/subscriptions/00000000-0000-0000-0000-000000000001';
export const GROUP_URL = `${SUBSCRIPTION_URL}/resourceGroups/velda`;
export const VM_URL = `${GROUP_URL}/providers/Microsoft.Compute/virtualMachines/m-1`;
const SUBNET = `${new URL(GROUP_URL).pathname}/providers/Microsoft.Network/virtualNetworks/velda-network/subnets/agents`;

type Tree = Readonly<Record<string, unknown>>;

/** What is changed is laid over what is there, at any depth. */
const merged = (base: Tree, changes: Tree): Tree =>
  Object.fromEntries(
    [...new Set([...Object.keys(base), ...Object.keys(changes)])].map((key) => {
      const [old, own] = [base[key], changes[key]];
      const isTree = [old, own].every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
      return [key, isTree ? merged(old as Tree, own as Tree) : (own ?? old)];
    }),
  );

export const networkProfile = (subnet = SUBNET, own: object = {}) => ({
  networkApiVersion: '2022-11-01',
  networkInterfaceConfigurations: [
    {
      name: 'm-1-nic',
      properties: { primary: true, ipConfigurations: [{ name: 'ip', properties: { subnet: { id: subnet } } }], ...own },
    },
  ],
});

/** A machine with all that Azure insists on. */
export const vmBody = (properties: Tree = {}, own: object = {}): object => ({
  location: 'westeurope',
  ...own,
  properties: merged(
    {
      hardwareProfile: { vmSize: 'Standard_D2s_v5' },
      storageProfile: {
        imageReference: { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku: 'server', version: 'latest' },
        ...(properties.storageProfile === undefined && { osDisk: { createOption: 'FromImage' } }),
      },
      osProfile: {
        computerName: 'm-1',
        adminUsername: 'azureuser',
        linuxConfiguration: {
          ssh: { publicKeys: [{ path: '/home/azureuser/.ssh/authorized_keys', keyData: PUBLIC_KEY }] },
        },
      },
      networkProfile: networkProfile(),
    },
    properties,
  ),
});

interface Asked {
  readonly method?: string | undefined;
  readonly body?: object | undefined;
  /** Null: no credentials at all. */
  readonly token?: string | null;
  readonly prepare?: (fake: FakeAzure) => void;
}

interface ErrorBody {
  readonly error?: { readonly code?: string; readonly message?: string };
  readonly title?: string;
  readonly detail?: string;
}

/** Status, code and message. */
export async function ask(url: string, { method = 'GET', body, token, prepare }: Asked) {
  const clock = new VirtualClock();
  const fake = openFakeAzure(clock);
  const { world } = fake;
  const { host, origin } = new URL(url);
  const isStore = host.endsWith('.azconfig.io');
  world.stores.set('velda-pools', openStore('velda-pools', clock));
  prepare?.(fake);
  const resource = isStore ? 'https://azconfig.io' : origin;
  world.granted.set('good', { who: 'muster', resource, expiresAt: clock.now() + 1_000 });
  const target = new URL(url);
  target.searchParams.set('api-version', isStore ? '2023-11-01' : '2026-03-01');
  const answer = await fake.fetch(target, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token ?? 'good'}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const { error, title, detail } = (text === '' ? {} : JSON.parse(text)) as ErrorBody;
  return [answer.status, error?.code ?? title ?? '', error?.message ?? detail ?? ''] as const;
}

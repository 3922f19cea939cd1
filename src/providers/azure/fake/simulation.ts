// The fake Azure as users run it, to try a configuration without a subscription.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import type { Bootable } from '#fakes/boot/machine.ts';
import { serveFake } from '#fakes/serve.ts';
import { openStore } from './app-configuration/store.ts';
import { bootable } from './compute/machine.ts';
import { flexibleSet } from './compute/scale-sets.ts';
import { openFakeAzure, publishedLimits } from './fake-azure.ts';
import { ONLY_STORE } from './read-call.ts';

// Fast enough to watch, slow enough to see every state.
const BEHAVIOUR = { bootMs: 1_500, lagMs: 500 };
const PREFIX = 'pools/';
const ACCESS_KEY = { id: 'simulated', secret: Buffer.from('simulated').toString('base64') };

const MACHINES = {
  resource_group: 'velda',
  location: 'westeurope',
  vm_size: 'Standard_D2s_v5',
  subnet_id: 'velda-network/agents',
};
const SCALE_SET = 'velda-agents';
const DOCUMENTS = [
  { name: 'my-pool', auto_scaler: { max_agents: 4, backend: { azure_vm: MACHINES } } },
  {
    name: 'my-set-pool',
    auto_scaler: { max_agents: 4, backend: { azure_vmss: { resource_group: 'velda', vmss_name: SCALE_SET } } },
  },
];

const triesAt = (address: string): readonly string[] => [
  "cat > muster.yaml <<'END'",
  'provisioners:',
  `  - azure: { endpoint: "${address}", config_prefix: ${PREFIX}, update_interval: 10s }`,
  'END',
  'npx muster server --config muster.yaml   # it finds the pools my-pool and my-set-pool in the store',
  'npx muster run --pool my-pool -- uname -a',
  `npx muster run --pool my-set-pool -- uname -a   # in the scale set ${SCALE_SET}`,
  `npx muster source show azure:${new URL(address).host}/${PREFIX}`,
  `curl -X PUT '${address}/kv/pools%2Fanother?api-version=2023-11-01' -H 'content-type: application/json' -d '{"value": "name: another"}'`,
];

async function start({ clock, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeAzure(clock, { ...BEHAVIOUR, limits: publishedLimits });
  const { world } = fake;
  const store = openStore(ONLY_STORE, clock);
  for (const document of DOCUMENTS) store.put(`${PREFIX}${document.name}`, JSON.stringify(document, undefined, 2));
  const set = flexibleSet(`/subscriptions/${world.subscriptionId}/resourceGroups/velda`, { name: SCALE_SET });
  world.compute.sets.set(set.id.toLowerCase(), set);
  store.accessKeys.set(ACCESS_KEY.id, ACCESS_KEY.secret);
  world.stores.set(ONLY_STORE, store);
  world.isOpen = true;
  const watch = (changed: (machine: Bootable) => void) =>
    world.compute.watch((vm) => changed(bootable(vm, () => world.compute.stop(vm))));
  const served = await serveFake(fake.handle, { port }, { clock, watch });
  const { address } = served;
  return {
    address,
    folder: served.machines?.folder ?? '',
    environment: {
      AZURE_RESOURCE_MANAGER_URL: address,
      AZURE_SUBSCRIPTION_ID: world.subscriptionId,
      // For Azure's own clients, which insist on credentials.
      AZURE_APPCONFIG_CONNECTION_STRING: `Endpoint=${address};Id=${ACCESS_KEY.id};Secret=${ACCESS_KEY.secret}`,
    },
    tries: triesAt(address),
    close: served.close,
  };
}

export default { summary: 'virtual machines, scale sets and App Configuration of Azure', start } satisfies Simulation;

// The fake Azure as users run it, to try a configuration without an account.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import { serveFake } from '#fakes/serve.ts';
import { openStore } from './app-configuration/store.ts';
import { openFakeAzure } from './fake-azure.ts';
import { ONLY_STORE } from './read-call.ts';

const PREFIX = 'pools/';
const DOCUMENT = { name: 'my-pool', auto_scaler: { max_agents: 4 } };
const ACCESS_KEY = { id: 'simulated', secret: Buffer.from('simulated').toString('base64') };

const triesAt = (address: string): readonly string[] => [
  "cat > muster.yaml <<'END'",
  'provisioners:',
  `  - azure: { endpoint: "${address}", config_prefix: ${PREFIX}, update_interval: 10s }`,
  'END',
  'npx muster server --config muster.yaml   # it finds the pool my-pool in the store',
  `npx muster source show azure:${new URL(address).host}/${PREFIX}`,
  `curl -X PUT '${address}/kv/pools%2Fanother?api-version=2023-11-01' -H 'content-type: application/json' -d '{"value": "name: another"}'`,
];

async function start({ clock, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeAzure(clock);
  const store = openStore(ONLY_STORE, clock);
  store.put(`${PREFIX}my-pool`, JSON.stringify(DOCUMENT, undefined, 2));
  store.accessKeys.set(ACCESS_KEY.id, ACCESS_KEY.secret);
  fake.world.stores.set(ONLY_STORE, store);
  fake.world.isOpen = true;
  const { address, close } = await serveFake(fake.handle, { port });
  return {
    address,
    folder: '',
    // For Azure's own clients, which insist on credentials.
    environment: {
      AZURE_APPCONFIG_CONNECTION_STRING: `Endpoint=${address};Id=${ACCESS_KEY.id};Secret=${ACCESS_KEY.secret}`,
    },
    tries: triesAt(address),
    close,
  };
}

export default { summary: 'stores of Azure App Configuration', start } satisfies Simulation;

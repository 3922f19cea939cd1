// The fake Mithril as users run it, to try a configuration without an account.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import type { Bootable } from '#fakes/boot/machine.ts';
import { serveFake } from '#fakes/serve.ts';
import { bootable } from './bid.ts';
import { openFakeMithril } from './cloud.ts';

// Fast enough to watch, slow enough to see every state.
const BEHAVIOUR = { bootMs: 3_000, lagMs: 500 };

const TRIES = [
  "cat > muster.yaml <<'END'",
  'provisioners:',
  '  - mithril_auto:',
  '      project_id: proj_abc123',
  '      region: us-west-2',
  '      autoscaler_config: { max_agents: 4, min_idle_agents: 0, max_idle_agents: 1, idle_decay: 1m }',
  '      pool_details:',
  '        - { pool_name: h100-8x, instance_type: 8xh100, limit_price: 4.50 }',
  '      max_suspended_bids: 2',
  'END',
  'npx muster server --config muster.yaml',
  'npx muster run --pool h100-8x -- uname -a',
];

async function start({ clock, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeMithril({ clock, ...BEHAVIOUR });
  const watch = (changed: (machine: Bootable) => void) => fake.watch((bid) => changed(bootable(bid)));
  const served = await serveFake(fake.handle, { port }, { clock, watch });
  return {
    address: served.address,
    folder: served.machines?.folder ?? '',
    environment: { MITHRIL_API_URL: served.address, MITHRIL_API_TOKEN: 'simulated' },
    tries: TRIES,
    close: served.close,
  };
}

export default { summary: 'spot bids of Mithril', start } satisfies Simulation;

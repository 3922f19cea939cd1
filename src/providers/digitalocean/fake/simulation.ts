// The fake DigitalOcean as users run it, to try a configuration without an account.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import type { Bootable } from '#fakes/boot/machine.ts';
import { serveFake } from '#fakes/serve.ts';
import { openFakeDigitalOcean, publishedLimits } from './cloud.ts';
import { bootable } from './droplet.ts';

// Fast enough to watch, slow enough to see every state.
const BEHAVIOUR = { bootMs: 1_500, lagMs: 500 };

const TRIES = [
  "cat > muster.yaml <<'END'",
  'provisioners:',
  '  - digitalocean_auto:',
  '      region: atl1',
  '      autoscaler_config: { max_agents: 4, min_idle_agents: 0, max_idle_agents: 1, idle_decay: 1m }',
  '      pool_details:',
  '        - { pool_name: mi300x-1gpu, size: gpu-mi300x1-192gb-devcloud, image: amd-rocm71software }',
  'END',
  'npx muster server --config muster.yaml',
  'npx muster run --pool mi300x-1gpu -- uname -a',
];

async function start({ clock, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeDigitalOcean({ clock, limits: publishedLimits, ...BEHAVIOUR });
  const watch = (changed: (machine: Bootable) => void) => fake.watch((droplet) => changed(bootable(droplet)));
  const served = await serveFake(fake.handle, { port }, { clock, watch });
  return {
    address: served.address,
    folder: served.machines?.folder ?? '',
    environment: { DIGITALOCEAN_API_URL: served.address, DIGITALOCEAN_API_TOKEN: 'simulated' },
    tries: TRIES,
    close: served.close,
  };
}

export default { summary: 'droplets of DigitalOcean', start } satisfies Simulation;

// The fake Nebius as users run it, to try a configuration without an account.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import type { Bootable } from '#fakes/boot/machine.ts';
import { listenGrpc } from '#fakes/listen-grpc.ts';
import { serveFake } from '#fakes/serve.ts';
import { openFakeNebius } from './cloud.ts';
import { bootable } from './instance.ts';

// Fast enough to watch, slow enough to see every state.
const BEHAVIOUR = { bootMs: 3_000, lagMs: 500 };

const TRIES = [
  "cat > muster.yaml <<'END'",
  'provisioners:',
  '  - nebius_auto:',
  '      parent_id: project-abc123',
  '      subnet_id: vpcsubnet-xyz',
  '      autoscaler_config: { max_agents: 4, min_idle_agents: 0, max_idle_agents: 1, idle_decay: 1m }',
  '      pool_details:',
  '        - { pool_name: h200-1gpu, platform: gpu-h200-sxm, resource_preset: 1gpu-16vcpu-200gb }',
  '      max_disk_pool_size: 2',
  'END',
  'npx muster server --config muster.yaml',
  'npx muster run --pool h200-1gpu -- uname -a',
];

async function start({ clock, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeNebius({ clock, ...BEHAVIOUR });
  const watch = (changed: (machine: Bootable) => void) => fake.watch((instance) => changed(bootable(instance)));
  const served = await serveFake(fake.handle, { port, listen: listenGrpc }, { clock, watch });
  return {
    address: served.address,
    folder: served.machines?.folder ?? '',
    environment: { NEBIUS_ENDPOINT: served.address, NEBIUS_IAM_TOKEN: 'simulated' },
    tries: TRIES,
    close: served.close,
  };
}

export default { summary: 'instances of Nebius AI Cloud', start } satisfies Simulation;

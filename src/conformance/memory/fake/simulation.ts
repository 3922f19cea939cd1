import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import type { Bootable } from '#fakes/boot/machine.ts';
import { serveFake } from '#fakes/serve.ts';
import { bootable, openFakeMemory } from './cloud.ts';

async function start({ clock, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeMemory({ clock });
  const watch = (changed: (machine: Bootable) => void) => fake.watch((machine) => changed(bootable(machine, fake)));
  const served = await serveFake(fake.handle, { port }, { clock, watch });
  return {
    address: served.address,
    folder: served.machines?.folder ?? '',
    environment: {},
    tries: [`npx muster pool apply pool.yaml   # a pool whose memory_machine has the url ${served.address}`],
    close: served.close,
  };
}

export default { summary: 'Machines of a cloud in memory', start } satisfies Simulation;

import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import type { SimCloudOptions, SimulatedCloud } from '../cli/command.ts';
import { onSignals } from './interrupts.ts';

interface Simulation extends SimulatedCloud {
  close(): Promise<void>;
}

const SIMULATIONS: Readonly<Record<string, (port: number) => Promise<Simulation>>> = {
  async aws(port) {
    const { startSimulation } = await import('../providers/aws/fake/simulation.ts');
    return startSimulation({ port, clock: systemClock, random: systemRandom });
  },
};

/** Runs a simulated cloud until it is told to end, and then ends all its machines. */
export async function runSimCloud({ cloud, port, signal, started }: SimCloudOptions): Promise<void> {
  const { promise: told, resolve: tell } = Promise.withResolvers<void>();
  const stopListening = onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], () => tell());
  signal.addEventListener('abort', () => tell(), { once: true });
  const simulation = await SIMULATIONS[cloud]?.(port);
  if (simulation) {
    started(simulation);
    await told;
    await simulation.close();
  }
  stopListening();
}

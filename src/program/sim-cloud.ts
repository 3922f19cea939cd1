import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { systemRandom } from '#core/random.ts';
import { makeRedactor } from '#journal/redact.ts';
import type { SimCommandOptions } from '../cli/command.ts';
import { simulations } from '../providers/simulations.gen.ts';
import { onSignals } from './interrupts.ts';
import { openLog } from './logging.ts';
import { joinSimulatedNodes } from './simulated-nodes.ts';

/** What this program was started with, from a checkout as from a package. */
const ownCommand = (): readonly string[] => [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)];

/** Runs a simulated cloud until a signal ends it, and then ends all its machines. */
export async function runSimCloud({ cloud, port, kubeconfig, signal, started }: SimCommandOptions): Promise<void> {
  const found = simulations.find(({ id }) => id === cloud);
  if (!found) throw new Fault('invalid', `There is no simulated cloud "${cloud}".`);
  const redactor = makeRedactor([]);
  const log = openLog({ level: 'warn', format: 'auto', output: process.stderr, clock: systemClock, redactor });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const stopListening = onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], () => end());
  signal.addEventListener('abort', () => end(), { once: true });
  try {
    const { start } = await found.load();
    const running = await start({ port, clock: systemClock, random: systemRandom, agentCommand: ownCommand() });
    try {
      const deps = { clock: systemClock, random: systemRandom, log };
      const { nodes } = running;
      const joined = kubeconfig ? await joinSimulatedNodes({ cloud, nodes, kubeconfig }, deps) : undefined;
      const environment = { ...running.environment, ...(kubeconfig && { KUBECONFIG: kubeconfig }) };
      started(joined ? { ...running, environment, tries: joined.tries } : running);
      await ended;
      await joined?.close();
    } finally {
      await running.close();
    }
  } finally {
    stopListening();
  }
}

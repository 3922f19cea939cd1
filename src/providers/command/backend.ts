import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { Backend, Context, Machine, Outcome } from '#core/provider.ts';
import type { CommandConfig } from './config.ts';
import { creatorOf } from './create.ts';
import { inTurns } from './in-turns.ts';
import { openLaunches } from './launches.ts';
import { openScripts } from './scripts.ts';

/** Pools with the same scripts share one listing; others see nothing of each other. */
function cloudOf(config: CommandConfig): string {
  const text = JSON.stringify([config.start, config.stop, config.list, config.batchStart]);
  return `command:${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

export async function openCommandBackend(config: CommandConfig, context: Context): Promise<Backend> {
  const scripts = openScripts(config, context);
  const create = creatorOf(scripts, openLaunches(join(context.dataDir, 'launches'), context.clock));

  async function remove({ name, mark }: Machine, signal: AbortSignal): Promise<Outcome> {
    if (mark && mark.cluster !== context.cluster)
      return { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
    const { fault } = await scripts.stop(name, signal);
    if (!fault) return { name };
    // Few scripts are kind to what is gone already. One listing may be wrong: two in a row count.
    const isListed = async () => (await scripts.list(signal)).some((machine) => machine.name === name);
    return (await isListed()) || (await isListed()) ? { name, fault } : { name };
  }

  return {
    cloud: cloudOf(config),
    list: scripts.list,
    create,
    delete: (machines, signal) =>
      inTurns(machines, (machine) =>
        remove(machine, signal).catch((thrown) => {
          if (signal.aborted) throw thrown;
          return { name: machine.name, fault: Fault.from(thrown) };
        }),
      ),
  };
}

import type { LoadedConfig } from '#config/load.ts';
import { type ConfigWatch, watchConfig } from '#config/reload.ts';
import { Fault } from '#core/fault.ts';
import type { ServerContext } from './holder.ts';
import type { Plane } from './plane.ts';

/** Applies changes of the configuration file; a bad one changes nothing; both make an event. */
export function followConfig(server: ServerContext, { pools, journal, features }: Plane): ConfigWatch {
  const { clock, log, loaded, load, sources, store } = server;

  function tell(kind: string, message: string): void {
    // A store that fails ends the process by itself.
    store.commit([journal.event({ kind, subject: 'server', message })]).catch(() => {});
  }

  let turn = 0;

  /** Opening may take a while: an older configuration that comes late must not undo a newer one. */
  async function apply(next: LoadedConfig): Promise<void> {
    const mine = ++turn;
    const opened = await sources.open(next.config);
    // Both steps go over all pools of the file.
    await new Promise<void>((resolve) => clock.soon(resolve));
    if (mine !== turn) return sources.discard(opened);
    sources.use(opened);
    pools.setSources(opened);
  }

  return watchConfig({
    clock,
    current: loaded,
    load,
    refuses: ({ config }) => features.refuses(config.sections),
    changed(next, needRestart) {
      features.configure(next.config.sections);
      apply(next).catch((thrown) => {
        log('error', 'configuration not applied', { error: Fault.from(thrown).message });
      });
      log('info', 'configuration applied', { file: next.file, needRestart });
      const rest = needRestart.length === 0 ? '' : ` Only a restart changes ${needRestart.join(', ')}.`;
      tell('config.applied', `Configuration reloaded.${rest}`);
    },
    refused(fault) {
      log('error', 'configuration refused, keeping the previous one', { error: fault.message });
      tell('config.refused', fault.message);
    },
  });
}

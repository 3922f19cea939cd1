import type { LoadedConfig } from '#config/load.ts';
import { watchConfig } from '#config/reload.ts';
import { systemFiles } from '#config/watched-files.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';

export interface StandbyParts {
  readonly loaded: LoadedConfig;
  load(): Promise<LoadedConfig>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Follows the file while this process stands by, so that it takes over with the newest configuration. */
export function followConfigAsStandby({ loaded, load, clock, log }: StandbyParts) {
  let latest = loaded;
  const watch = watchConfig({
    clock,
    current: loaded,
    load,
    changed(next, needRestart) {
      latest = next;
      log('info', 'configuration reloaded while standing by', { file: next.file, needRestart });
    },
    refused: (fault) => log('error', 'configuration refused, keeping the previous one', { error: fault.message }),
  });
  return {
    poke: () => watch.poke(),
    /** Ends it, with one last look; answers the newest good configuration. */
    async end(): Promise<LoadedConfig> {
      watch.stop();
      if (systemFiles.signature(latest.files) === latest.signature) return latest;
      return load().catch((thrown) => {
        log('error', 'configuration refused, keeping the previous one', { error: Fault.from(thrown).message });
        return latest;
      });
    },
    stop: () => watch.stop(),
  };
}

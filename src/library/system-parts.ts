// The parts that a user's script has: this machine, its network, its environment.
import { join } from 'node:path';
import { readEnvironment } from '#config/environment.ts';
import { type KnownKinds, knownKinds } from '#config/kinds.ts';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { systemRandom } from '#core/random.ts';
import { openDatabase } from '#store/database.ts';
import { openStore } from '#store/store.ts';
import { openOutbound } from '../edge/outbound.ts';
import { readProxies } from '../edge/proxies.ts';
import { STORE_THREAD } from '../program/store-thread.ts';
import { readVersion } from '../program/version.ts';
import { providers } from '../providers/providers.gen.ts';
import { holdFolder, isUsedFolder, storeFolder } from './held-folder.ts';
import type { LibraryParts, OpenedStore } from './parts.ts';

const openFolder: LibraryParts['openStore'] = async (folder, log, lost): Promise<OpenedStore> => {
  const replica = await openDatabase(storeFolder(folder), {
    random: systemRandom,
    log,
    advertised: null,
    lost,
    threadFile: STORE_THREAD,
  });
  const store = await openStore(await replica.hold(new AbortController().signal), lost);
  return {
    store,
    async close() {
      await store.close();
      await replica.close();
    },
  };
};

function stateDirOf(home: string | undefined): string {
  if (home !== undefined) return join(home, '.muster', 'computers');
  throw new Fault('invalid', 'There is no home directory for the state of computers.', {
    at: 'stateDir',
    remedy: 'Set HOME, or give stateDir.',
  });
}

let kinds: KnownKinds | undefined;

export function systemParts(): LibraryParts {
  const environment = readEnvironment();
  const { variable } = environment;
  const outside = openOutbound({ proxyFor: readProxies(variable), userAgent: `muster/${readVersion()}` });
  return {
    clock: systemClock,
    random: systemRandom,
    get kinds() {
      kinds ??= knownKinds(providers);
      return kinds;
    },
    outside,
    probe: outside.fetch,
    variable: (name) => variable(name) || undefined,
    get stateDir() {
      return stateDirOf(environment.home);
    },
    hold: (folder) => holdFolder(folder, systemClock.now()),
    isUsed: isUsedFolder,
    openStore: openFolder,
  };
}

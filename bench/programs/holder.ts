// The server as it holds, in a program that can be asked for its memory, and made to end TLS on loopback.

import { readEnvironment } from '#config/environment.ts';
import { loadServerConfig } from '#config/load.ts';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { type Store, TABLES, type TableName } from '#core/store.ts';
import { makeRedactor } from '#journal/redact.ts';
import { formatAddress } from '../../src/edge/address.ts';
import { type Front, openFront } from '../../src/edge/front.ts';
import { openConnections } from '../../src/edge/open-connections.ts';
import { agentRuntimes } from '../../src/program/agent-program.ts';
import { startHolder } from '../../src/program/holder.ts';
import { loadKinds } from '../../src/program/kinds.ts';
import { type InUse, inUse } from '../parts/memory.ts';
import { type Calls, serveCalls } from '../parts/program.ts';
import { openHeld } from '../parts/stores.ts';

export interface Holding {
  readonly folder: string;
  /** The server's file. */
  readonly config: string;
  readonly isSecure: boolean;
}

export interface Held {
  readonly http: string;
  readonly grpc: string;
  readonly ca: string | undefined;
}

let store: Store | undefined;
let loggedBytes = 0;

/** Counts what the server would write: a line of JSON for each. */
const countingLog: Log = (level, message, fields) => {
  if (level !== 'debug') loggedBytes += JSON.stringify({ level, message, ...fields }).length;
};

/** What a server holds beside its histories. */
export interface Kept {
  readonly liveRows: number;
  readonly liveSessions: number;
  readonly loggedBytes: number;
}

function kept(): Kept {
  if (!store) throw new Fault('internal', 'The server does not hold yet.');
  const { view } = store;
  const names = Object.keys(TABLES) as TableName[];
  const liveRows = names.reduce((sum, name) => sum + view[name].size, 0);
  return { liveRows, liveSessions: view.sessions.size, loggedBytes };
}

/** Beyond loopback a server ends TLS itself: this one believes that it listens there. */
function asIfOutside(front: Front): Front {
  return { ...front, addresses: { ...front.addresses, grpc: { ...front.addresses.grpc, host: '0.0.0.0' } } };
}

const calls = {
  async hold({ folder, config, isSecure }: Holding): Promise<Held> {
    const environment = readEnvironment();
    const load = () => loadServerConfig({ named: config, environment, cpus: 2, kinds: loadKinds });
    store = await openHeld(folder);
    const clock = systemClock;
    const connections = openConnections({ mostOfAddress: 10_000, trustedProxies: [], clock, log: countingLog });
    const base = { clock, log: countingLog, connections };
    const front = await openFront({
      ...base,
      http: '127.0.0.1:0',
      grpc: '127.0.0.1:0',
      secret: '',
      holder: () => undefined,
    });
    const loaded = await load();
    const holding = await startHolder({
      ...base,
      environment,
      version: 'bench',
      redactor: makeRedactor(),
      loaded,
      runtimes: agentRuntimes(loaded.config),
      load,
      store,
      storeKind: 'sqlite',
      front: isSecure ? asIfOutside(front) : front,
      dataDir: folder,
    });
    if (holding.plane.access.ca.certificate === '') throw new Fault('internal', 'There is no authority.');
    const at = formatAddress(front.addresses.grpc);
    return {
      http: holding.http,
      grpc: `${isSecure ? 'https' : 'http'}://${at}`,
      ca: isSecure ? holding.plane.access.ca.certificate : undefined,
    };
  },
  memory: (): Promise<InUse> => inUse(),
  kept: (): Kept => kept(),
} satisfies Calls;

export type HolderCalls = typeof calls;

serveCalls(calls);

// The program of the store's threads: it serves one database, or makes one copy.
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '#core/fault.ts';
import type { Copier, Engine, EngineCalls, FromThread, Setup, ThreadListener, ToThread } from './engine.ts';
import type { Part } from './parts.ts';
import { plainFault } from './plain-fault.ts';

function tell(message: FromThread): void {
  parentPort?.postMessage(message);
}

const listener: ThreadListener = {
  log: (...args) => tell({ notice: 'log', args }),
  holder: (...args) => tell({ notice: 'holder', args }),
  lost: (fault) => tell({ notice: 'lost', args: [plainFault(fault)] }),
};

/** Gathers the parts of a transaction until its last has come. */
function byParts(engine: Engine): EngineCalls {
  let parts: Part[] = [];
  return {
    ...engine,
    async add(part) {
      parts.push(part);
    },
    write(last) {
      const all = [...parts, last];
      parts = [];
      return engine.write(all);
    },
  };
}

// Each is imported only where it is used: the client of PostgreSQL alone costs some 30 ms.
async function open(setup: Setup): Promise<EngineCalls | Copier> {
  if (setup.role === 'sqlite') return byParts((await import('./sqlite/engine.ts')).sqliteEngine(setup, listener));
  if (setup.role === 'postgres') return byParts((await import('./postgres/engine.ts')).postgresEngine(setup, listener));
  return (await import('./copier.ts')).openCopier(setup);
}

const served = open(workerData as Setup);

async function serve({ call, method, args }: ToThread): Promise<void> {
  try {
    const methods = (await served) as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
    const wanted = methods[method];
    if (!wanted) throw new Fault('internal', `The store's thread knows no "${method}".`);
    tell({ call, result: await wanted(...args) });
  } catch (thrown) {
    tell({ call, fault: plainFault(thrown) });
  }
}

parentPort?.on('message', (message: ToThread) => void serve(message));

import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { shortId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { Random } from '#core/random.ts';
import { HISTORIES } from '#core/store.ts';
import type { HistoryRules } from '#core/table.ts';
import type { Holder } from './cluster.ts';
import { backup } from './copies.ts';
import type { Driver } from './driver.ts';
import type { EngineCalls, Setup, Target, ThreadListener } from './engine.ts';
import { historyTables } from './history-tables.ts';
import { leaseEnd, newLeaseMemory, type Pulse } from './lease-end.ts';
import { startThread } from './link.ts';
import { parseStoreUrl } from './store-url.ts';
import { threadDriver } from './thread-driver.ts';

export interface DatabaseOptions {
  readonly random: Random;
  readonly log: Log;
  /** What this process publishes to standbys while it is the holder; plain JSON. */
  readonly advertised: unknown;
  /** Called once when this process can no longer be the holder: it must end. */
  lost(fault: Fault): void;
  /** Where a bundle has put the thread's program. */
  readonly threadFile?: URL | undefined;
  /** Absent: those of the program. */
  readonly histories?: HistoryRules | undefined;
}

/** This process and its database; any number of processes may have one on the same PostgreSQL. */
export interface Replica {
  readonly kind: Target['kind'];
  /** Resolves once this process is the holder; when the signal aborts or waiting cannot help it closes and rejects. */
  hold(signal: AbortSignal): Promise<Driver>;
  /** Who holds the database now, as far as this process knows; undefined while no process does. */
  holder(): Holder | undefined;
  /** Releases the database, so that others can take it at once; also closes the driver. */
  close(): Promise<void>;
}

/** Opens a database without holding it yet. */
export async function openDatabase(url: string, options: DatabaseOptions): Promise<Replica> {
  const target = parseStoreUrl(url);
  const { histories = HISTORIES } = options;
  const common = {
    histories: historyTables(histories),
    newCluster: shortId(options.random),
    advertised: JSON.stringify(options.advertised ?? null),
  };
  const memory = newLeaseMemory();
  const lease = leaseEnd(memory);
  const setup: Setup =
    target.kind === 'sqlite'
      ? { role: 'sqlite', directory: target.directory, ...common }
      : { role: 'postgres', url: target.url, lease: memory, ...common };
  let holder: Holder | undefined;
  const listener: ThreadListener = {
    log: options.log,
    holder: (now) => {
      holder = now;
    },
    lost: (fault) => options.lost(fault),
  };
  // The thread renews the lease only while the program is not blocked.
  const stopBeating = target.kind === 'postgres' ? keepBeating(lease) : () => {};
  const link = startThread<EngineCalls>(setup, listener, options.threadFile);
  const close = once(async () => {
    holder = undefined;
    await link
      .call('close')
      .catch((thrown) => options.log('warn', 'database not closed cleanly', { error: Fault.from(thrown).message }));
    await link.end();
    stopBeating();
  });

  return {
    kind: target.kind,
    holder: () => holder,
    close,
    async hold(signal) {
      const held = await unlessAborted(link.call('hold'), signal, close);
      return threadDriver(link, {
        held,
        histories,
        leaseLeftMs: target.kind === 'sqlite' ? () => Number.POSITIVE_INFINITY : lease.leftMs,
        backup: (file) => backup(target, file, options),
        close,
      });
    },
  };
}

const BEAT_EVERY_MS = 1_000;

/** Sends heartbeats while the event loop runs; the returned function ends that. */
function keepBeating(pulse: Pulse): () => void {
  let cancel = (): void => {};
  const beat = (): void => {
    pulse.beat();
    cancel = systemClock.alarm(BEAT_EVERY_MS, beat);
  };
  beat();
  return () => cancel();
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}

/** Waits to become the holder. A process that stops waiting must not become the holder later, so the database is closed first. */
async function unlessAborted<T>(holding: Promise<T>, signal: AbortSignal, close: () => Promise<void>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Fault('unavailable', 'Stopped waiting for the database.'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted, holding]);
  } catch (thrown) {
    holding.catch(() => {});
    await close();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

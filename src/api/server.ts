import { createReadStream } from 'node:fs';
import { chmod, link, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { formatDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import { shortId } from '#core/id.ts';
import { noWorkers, phaseOf } from '#core/pool-counts.ts';
import { FLEET } from '#core/worker.ts';
import { BACKUP_PREFIX, noteBackup } from './backup-leftovers.ts';
import type { ApiDeps } from './deps.ts';
import type { ReportedProblem } from './fleet-problems.ts';
import { gaugeSet } from './gauges.ts';
import type { Gauges, GaugeWorld, Noun } from './noun.ts';
import { type Raw, type Route, route } from './route.ts';
import { shownFreeze } from './shown/pool.ts';
import { countSessions } from './shown/session-counts.ts';
import { Backup, ServerStatus } from './wire/server.ts';
import { toTime } from './wire/shared.ts';

const AbsolutePath = z
  .string()
  .max(4_000)
  .refine((path) => isAbsolute(path) && !path.includes('\0'), { error: 'Must be an absolute path on the server.' });

function countsOf(store: ApiDeps['store']): ServerStatus['counts'] {
  const { pools, agents, sources } = store.view;
  const workers = noWorkers();
  for (const worker of store.view.workers.all()) workers[phaseOf(store, worker)] += 1;
  return { pools: pools.size, workers, agents: agents.size, sessions: countSessions(store), sources: sources.size };
}

function statusOf({ store, clock, server, access }: ApiDeps): ServerStatus {
  const why = server.whyNotReady();
  const freeze = store.view.freezes.get(FLEET);
  const addresses = server.addresses();
  return {
    version: server.version,
    pid: server.pid,
    cluster: store.cluster,
    epoch: store.epoch,
    store: server.storeKind,
    address: addresses.http,
    addresses,
    ca_fingerprint: access.ca.fingerprint,
    machine_id: server.machineId,
    started_at: toTime(server.startedAt),
    uptime: formatDuration(Math.max(0, Math.floor((clock.now() - server.startedAt) / 1_000) * 1_000)),
    ready: why === undefined,
    why_not_ready: why,
    frozen: freeze && shownFreeze(freeze, store),
    counts: countsOf(store),
  };
}

/** A copy in a temporary directory, which is deleted after the copy was read or cancelled. */
async function backup({ store, dataDir }: ApiDeps): Promise<{ body: Raw; bytes: number }> {
  const directory = await mkdtemp(join(dataDir, BACKUP_PREFIX));
  const clean = (): void => void rm(directory, { recursive: true, force: true }).catch(() => {});
  try {
    const file = join(directory, 'muster.db');
    await store.backup(file);
    const { size } = await stat(file);
    return { body: createReadStream(file).once('close', clean), bytes: size };
  } catch (thrown) {
    clean();
    throw thrown;
  }
}

/** Written under another name first, so that a partial copy is never taken for a whole one. */
async function backupTo({ store, random, dataDir }: ApiDeps, file: string): Promise<Backup> {
  const beside = `${file}.${shortId(random)}.part`;
  const note = await noteBackup(dataDir, beside);
  try {
    await writeFile(beside, '', { flag: 'wx', mode: 0o600 });
    await rm(beside);
    await store.backup(beside);
    await chmod(beside, 0o600);
    // A link, unlike a rename, never replaces an existing file.
    await link(beside, file);
    return { file, bytes: (await stat(file)).size };
  } catch (thrown) {
    throw whyNot(thrown, file);
  } finally {
    await rm(beside, { force: true });
    await note.drop();
  }
}

function whyNot(thrown: unknown, file: string): Fault {
  const code = (thrown as NodeJS.ErrnoException).code;
  if (thrown instanceof Fault || code === undefined) return Fault.from(thrown);
  const kind = code === 'EEXIST' ? 'conflict' : 'invalid';
  const remedy = 'Name a file that does not exist yet, in a directory that the server may write to.';
  return new Fault(kind, `Cannot write ${file}: ${code}.`, { at: 'body.file', remedy, cause: thrown });
}

function serverRoutes(deps: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/server',
      role: 'viewer',
      summary: 'Shows the server: process, addresses, store, epoch, counts.',
      reply: ServerStatus,
      handle: () => statusOf(deps),
    }),
    route({
      method: 'GET',
      path: '/backup',
      role: 'admin',
      summary:
        'Downloads a consistent copy of everything as one SQLite file. It contains the keys of the cluster: keep it safe.',
      reply: z.custom<Raw>(),
      media: ['application/vnd.sqlite3'],
      isStream: true,
      async handle({ header }) {
        const { body, bytes } = await backup(deps);
        header('content-type', 'application/vnd.sqlite3');
        header('content-length', String(bytes));
        header('content-disposition', 'attachment; filename="muster.db"');
        return body;
      },
    }),
    route({
      method: 'POST',
      path: '/backup',
      role: 'admin',
      summary: 'Writes a backup to a file on the server.',
      body: z.strictObject({ file: AbsolutePath }),
      reply: Backup,
      status: 201,
      handle: ({ body }) => backupTo(deps, body.file),
    }),
  ];
}

/** It takes no new work. */
function* problems({ server }: ApiDeps): Iterable<ReportedProblem> {
  const why = server.whyNotReady();
  if (why === undefined) return;
  const said = { what: `The server takes no new work: ${why}`, remedy: 'See its log, and `muster status`.' };
  yield { id: 'server', urgency: 'server', subject: 'server', link: '/settings', said: () => said };
}

function gauges({ registry, store }: GaugeWorld): Gauges {
  const epoch = gaugeSet(registry).gauge('muster_epoch', 'Increases with each change of holder.');
  return { refresh: () => epoch.set(store.epoch) };
}

export const noun: Noun = { tag: 'server', order: 120, routes: serverRoutes, problems, gauges };

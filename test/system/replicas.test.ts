import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type SharedPostgres, sharedPostgres } from '../../src/store/testing/postgres.ts';
import { apiOf } from './harness/api.ts';
import { runCli, startCli } from './harness/cli.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { SOURCES } from './harness/start-place.ts';
import { openWorld } from './harness/world.ts';

const FOLDER_CLOUD = join(import.meta.dirname, 'harness', 'folder-cloud.ts');
const FOLDER_SOURCE = join(import.meta.dirname, 'harness', 'folder-source.ts');

let postgres: SharedPostgres;
beforeAll(async () => {
  postgres = await sharedPostgres();
});

/** The same database under a name that it notes for each connection. */
const as = (url: string, replica: string): string => `${url}?application_name=${replica}`;

async function sql<T>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

// Notes who writes each row, and when.
const WATCH = `
  CREATE TABLE public.written (replica text, place text, at timestamptz);
  CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO public.written VALUES (current_setting('application_name'), TG_TABLE_NAME, clock_timestamp());
      RETURN NULL;
    END $$;
  DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'muster' LOOP
      EXECUTE format('CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON muster.%I FOR EACH ROW EXECUTE FUNCTION public.note()', t);
    END LOOP;
  END $$;
`;

describe.concurrent('two replicas', () => {
  test('the holder is killed: the standby serves within 5 s, agents and clients come back by any address, the session goes on', async (context) => {
    const world = openWorld(context);
    const url = await postgres.database();
    const pool = processPool(world, 'local', { max_agents: 1, min_agents: 1 });
    const b = await placeServer(world, {}, { name: 'b' });
    const config = (replica: string) => ({
      store: as(url, replica),
      // Agents come by the standby, which passes them on.
      default_broker_info: { address: `http://127.0.0.1:${b.grpc}` },
      agent_pools: [pool],
    });
    const a = await placeServer(world, config('a'), { name: 'a' });
    b.configure(config('b'));
    const first = await startServer(world, a).ready();
    const second = startServer(world, b);
    await until('the other stands by', () => second.logged('listening').length > 0);
    const script = 'n=0; while [ ! -e "$1" ]; do n=$((n + 1)); echo "line $n"; sleep 0.1; done; exit 4';
    const request = { pool: 'local', command: ['sh', '-c', script, 'x', world.path('stop')] };

    const { id } = await until('accepted by the standby', () => apiOf(world, b.http).submit(request, 'once'));
    const followers = [a, b].map(({ http }) =>
      startCli(world, ['session', 'logs', '--follow', id], { MUSTER_ADDRESS: `http://127.0.0.1:${http}` }),
    );
    for (const { out } of followers) await until('output is followed', () => out().includes('line 2\n'));
    const before = await apiOf(world, b.http).session(id);
    await first.kill();
    const status = await until('the standby serves', () =>
      apiOf(world, b.http).get<{ epoch: number; pid: number }>('/server'),
    );
    const third = startServer(world, a);
    const heard = followers.map(({ out }) => out().length);
    for (const [at, { out }] of followers.entries())
      await until('output goes on', () => out().length > (heard[at] ?? 0) + 20);
    const after = await apiOf(world, a.http).session(id);
    world.write('stop', '');
    const ends = await Promise.all(followers.map(({ ended }) => ended));

    expect(status).toMatchObject({ epoch: 2, pid: second.pid });
    expect(third.logged('serving')).toEqual([]);
    expect(after).toMatchObject({ phase: 'running', attempt: 1, worker: before.worker });
    const ended = await apiOf(world, a.http).session(id);
    const whole = await apiOf(world, b.http).output(id);
    expect(ended.end).toMatchObject({ how: 'exited', exit_code: 4 });
    expect(whole.split('\n').slice(0, -1)).toEqual(
      whole
        .split('\n')
        .slice(0, -1)
        .map((_, at) => `line ${at + 1}`),
    );
    for (const { code, out } of ends) expect({ code, out }).toEqual({ code: 0, out: whole });
    expect(world.agents()).toEqual([before.worker]);
  });

  test('a standby takes over with the file as it is then: what was added since it started stays', async (context) => {
    const world = openWorld(context);
    const url = await postgres.database();
    const config = (...names: string[]) => ({ store: url, agent_pools: names.map((name) => ({ name })) });
    const a = await placeServer(world, config('old'), { name: 'a' });
    const b = await placeServer(world, config('old'), { name: 'b' });
    const first = await startServer(world, a).ready();
    const second = startServer(world, b);
    await until('the other stands by', () => second.logged('listening').length > 0);

    for (const place of [a, b]) place.configure(config('old', 'added'));
    await until('the holder has it', () => apiOf(world, a.http).pool('added'));
    await first.kill();
    await until('the standby serves', () => second.logged('serving').length > 0);
    await until('its file is read', () => second.logged('source synced').length > 0);

    expect(second.logged('source synced')[0]).toMatchObject({ documents: 2, missing: 0 });
    expect(await apiOf(world, b.http).pool('added')).toMatchObject({ name: 'added', phase: 'manual' });
  });

  test('the holder is stopped between lease check and call: it commits nothing more, and what it makes is swept', async (context) => {
    const world = openWorld(context);
    const url = await postgres.database();
    const folderCloud = world.path('folderCloud');
    mkdirSync(folderCloud);
    const pool = {
      name: 'folder-cloud',
      auto_scaler: { backend: { folderCloud: { folder: folderCloud } }, max_agents: 1, sync_loop_interval: '1s' },
    };
    const b = await placeServer(world, {}, { name: 'b' });
    const config = (replica: string) => ({
      store: as(url, replica),
      plugins: [FOLDER_CLOUD],
      default_broker_info: { address: `http://127.0.0.1:${b.grpc}` },
      agent_pools: [pool],
    });
    const a = await placeServer(world, config('a'), { name: 'a' });
    b.configure(config('b'));
    const first = await startServer(world, a, {}, SOURCES).ready();
    const second = startServer(world, b, {}, SOURCES);
    await until('the other stands by', () => second.logged('listening').length > 0);
    await sql(url, WATCH);
    world.write('folderCloud/hold', '');

    // The call holds up the whole process, and may do so before it has answered us.
    const submitted = apiOf(world, a.http).submit({ pool: 'folder-cloud', command: ['true'] });
    submitted.catch(() => {});
    const name = await until('the call is about to leave', () => world.read('folderCloud/asked'));
    first.signal('SIGSTOP');
    await second.ready();
    const api = apiOf(world, b.http);
    const [session] = (await api.get<{ items: { id: string }[] }>('/sessions')).items;
    await api.post(`/sessions/${session?.id}/kill`, {});
    await until('nobody wants it any more', async () => (await api.workers()).length === 0);
    const [{ now } = { now: new Date(0) }] = await sql<{ now: Date }>(url, 'SELECT clock_timestamp() AS now');
    world.write('folderCloud/go', '');
    first.signal('SIGCONT');
    const end = await first.ended;
    await until('the old holder has made a machine', () => world.read(`folderCloud/${name}.log`));
    await until('it is swept', async () => (await api.events('machine.swept')).length > 0);

    expect(end.code).toBeGreaterThan(0);
    const written = await sql<{ replica: string; at: Date }>(url, 'SELECT replica, at FROM public.written ORDER BY at');
    expect(written.some(({ replica }) => replica === 'a')).toBe(true);
    expect(written.filter(({ replica, at }) => replica === 'a' && at >= now)).toEqual([]);
    expect(await sql(url, 'SELECT epoch::int FROM muster.cluster')).toEqual([{ epoch: 2 }]);
    expect(await api.workers()).toEqual([]);
    expect((await api.events('machine.swept')).map(({ subject }) => subject)).toEqual([`machine/${name}`]);
    expect(second.logged('agent refused').map(({ error }) => error)).toEqual([`This token was not made for ${name}.`]);
    expect(world.living().map(({ pid }) => pid)).toEqual([second.pid]);
    const shown = await runCli(world, ['worker', 'ls', '-o', 'json'], { MUSTER_ADDRESS: `127.0.0.1:${b.http}` });
    expect(shown.out.trim()).toBe('[]');
    for (const { logName } of [first, second]) expect(world.read(logName)).not.toContain('Warning');
  });

  test('the holder is stopped before a report: it sends none, and the writer hears from the new holder', async (context) => {
    const world = openWorld(context);
    const url = await postgres.database();
    const folder = world.path('folderSource');
    mkdirSync(folder);
    const config = (replica: string) => ({
      store: as(url, replica),
      plugins: [FOLDER_SOURCE],
      agent_pools: [],
      provisioners: [{ name: 'folderSource', update_interval: '1s', folderSource: { folder, replica } }],
    });
    const [a, b] = [
      await placeServer(world, config('a'), { name: 'a' }),
      await placeServer(world, config('b'), { name: 'b' }),
    ];
    const reports = (): string[] => world.read('folderSource/reports').trim().split('\n');
    world.write('folderSource/p.json', JSON.stringify({ name: 'p' }));
    const first = await startServer(world, a, {}, SOURCES).ready();
    const second = startServer(world, b, {}, SOURCES);
    await until('the other stands by', () => second.logged('listening').length > 0);
    await until('its writer hears of the pool', () => reports().includes('a p manual'));

    // Of these nothing was ever written: the lease alone keeps a report back. Both come in one listing.
    for (const key of ['q', 'r']) world.write(`folderSource/${key}.deleted`, '');
    mkdirSync(world.path('folderSource/new'));
    for (const key of ['q', 'r']) world.write(`folderSource/new/${key}.json`, JSON.stringify({ name: key }));
    world.write('folderSource/hold-a', '');
    renameSync(world.path('folderSource/new'), world.path('folderSource/more'));
    const left = await until('a report has left', () => world.read('folderSource/asked'));
    const kept = ['q', 'r'].filter((key) => key !== left);
    first.signal('SIGSTOP');
    await second.ready();
    await until('the new holder has told both writers', () =>
      ['b q gone', 'b r gone'].every((line) => reports().includes(line)),
    );
    world.write('folderSource/go', '');
    first.signal('SIGCONT');
    const end = await first.ended;

    expect(end.code).toBeGreaterThan(0);
    // What had left may arrive late, and repeats what the writer knows; nothing leaves any more.
    for (const key of kept) expect(reports()).not.toContain(`a ${key} gone`);
    expect(await apiOf(world, b.http).pool('p')).toMatchObject({ phase: 'manual' });
  });
});

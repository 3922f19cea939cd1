import { mkdirSync } from 'node:fs';
import { describe, expect, type TestContext, test } from 'vitest';
import { throughout, until } from '#core/testing/until.ts';
import { type Api, apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { type CutNetwork, openCutNetwork } from './harness/cut-network.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { carryOut, pieceOfWork } from './harness/work.ts';
import { openWorld, type World } from './harness/world.ts';

/** A server whose agents come over a network that can be cut. */
async function behindANetwork(
  context: TestContext,
  agents: number,
): Promise<{ world: World; api: Api; network: CutNetwork }> {
  const world = openWorld(context);
  mkdirSync(world.path('work'));
  const pool = processPool(world, 'local', { max_agents: agents, min_agents: agents, max_idle_agents: agents });
  let port = 0;
  const network = await openCutNetwork(() => port);
  context.onTestFinished(() => network.close());
  const config = { default_broker_info: { address: `http://127.0.0.1:${network.port}` }, agent_pools: [pool] };
  const place = await placeServer(world, config);
  port = place.grpc;
  await startServer(world, place).ready();
  const api = apiOf(world, place.http);
  await until('all agents are here', async () => {
    return (await api.workers()).filter(({ phase }) => phase === 'idle').length === agents;
  });
  return { world, api, network };
}

const CUT_MS = 8_000;

describe.concurrent('a network that is cut', () => {
  test('an agent cut off while its session ends brings exit code and output on return, and no second copy was started', async (context) => {
    const { world, api, network } = await behindANetwork(context, 2);
    const piece = pieceOfWork(world, 'local', 1);
    const { id } = await api.submit(piece.request, piece.key);
    await until('it runs', () => world.lines(piece.file).length === 1);

    network.cut();
    await until('it has ended', () => world.lines(piece.file).includes('end'));
    const meanwhile = await api.session(id);
    const next = await api.submit(pieceOfWork(world, 'local', 2).request);
    network.restore();
    const session = await carryOut(api, piece);

    expect(meanwhile).toMatchObject({ phase: 'unknown', attempt: 1 });
    expect(session).toMatchObject({ id, attempt: 1, end: { how: 'exited', exit_code: piece.exitCode } });
    expect(await api.output(id)).toBe(piece.output);
    expect(world.lines(piece.file)).toEqual(['start', 'end']);
    await until('what came meanwhile runs too', async () => (await api.session(next.id)).end);
    expect(world.lines('work/2')).toEqual(['start', 'end']);
    expect(await api.events('session.requeued')).toEqual([]);
  });

  test('all agents of a pool vanish and return: it is frozen meanwhile, and nothing is deleted or started again', async (context) => {
    const agents = 4;
    const { world, api, network } = await behindANetwork(context, agents);
    const pieces = Array.from({ length: agents }, (_, at) => pieceOfWork(world, 'local', at));
    const sessions = await Promise.all(pieces.map(({ request, key }) => api.submit(request, key)));
    const before = (await api.workers()).map(({ name }) => name);
    await until('all run', () => pieces.every(({ file }) => world.lines(file).length > 0));

    network.cut();
    await until('it is frozen', async () => (await api.pool('local')).frozen);
    const shown = await runCli(world, ['pool', 'show', 'local']);
    const told = await runCli(world, ['event', 'ls', '--kind', 'pool.frozen']);
    await throughout(CUT_MS, async () => {
      expect((await api.workers()).map(({ name }) => name)).toEqual(before);
      for (const { id } of sessions) expect(await api.session(id)).toMatchObject({ attempt: 1, phase: 'unknown' });
    });
    network.restore();
    await until('the freeze is lifted', async () => (await api.pool('local')).frozen === undefined);
    const ends = await Promise.all(pieces.map((piece) => carryOut(api, piece)));

    expect(shown.out).toMatch(/Frozen +since .* by muster: \d of 4 workers disconnected at once/);
    expect(told.out).toContain('pool.frozen');
    expect(ends.map(({ end, attempt }) => [end?.exit_code, attempt])).toEqual(
      pieces.map(({ exitCode }) => [exitCode, 1]),
    );
    for (const { file } of pieces) expect(world.lines(file)).toEqual(['start', 'end']);
    expect((await api.workers()).map(({ name }) => name)).toEqual(before);
    expect(await api.events('pool.thawed')).toHaveLength(1);
    for (const kind of ['worker.removing', 'worker.gone', 'session.requeued'])
      expect(await api.events(kind)).toEqual([]);
  });
});

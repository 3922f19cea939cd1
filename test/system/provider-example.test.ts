import { cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, inject, type TestContext, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { until } from '#core/testing/until.ts';
import { openDepot } from '../../examples/provider-example/depot.ts';
import { openWorkshop } from '../../examples/provider-example/workshop.ts';
import { run, runWell } from '../real/parts/run.ts';
import { apiOf } from './harness/api.ts';
import { runCli, startCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { SOURCES } from './harness/start-place.ts';
import { openWorld, type World } from './harness/world.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const EXAMPLE = join(ROOT, 'examples/provider-example');

/** The example outside of the project, as its author has it. */
async function takeOut(world: World): Promise<string> {
  const folder = world.path('depot');
  cpSync(EXAMPLE, folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
  await runWell('sh', [join(folder, 'link.sh'), ROOT], { env: world.env });
  return folder;
}

interface Place {
  handle(request: Request): Promise<Response>;
}

/** Puts the depot or its workshop on loopback. */
async function serve(depot: Place): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const sent = body === '' ? {} : { body };
    const asked = new Request(`http://depot${request.url}`, { method: request.method ?? 'GET', ...sent });
    const reply = await depot.handle(asked);
    response.writeHead(reply.status).end(await reply.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** What the machine would do with its boot script: run the agent with the file that stands in it. */
function bootMachine(world: World, name: string, boot: string): void {
  const [, text = ''] = /agent\.yaml" <<'MUSTER_END'\n([\s\S]*?)MUSTER_END\n/.exec(boot) ?? [];
  const file = parse(text) as { daemonConfig: object };
  const daemonConfig = { ...file.daemonConfig, workDirPath: world.path(`work/${name}`) };
  const config = world.write(`${name}.yaml`, stringify({ ...file, daemonConfig }));
  startCli(world, ['agent', '--config', config]);
}

async function expectLawsKept(context: TestContext): Promise<void> {
  const world = openWorld(context);
  const folder = await takeOut(world);
  // Without garbage collection the compiler takes a third less time.
  const options = { env: { ...world.env, GOGC: 'off' }, cwd: folder };

  const compiled = await run(join(folder, 'node_modules/.bin/tsc'), ['--singleThreaded'], options);
  const report = ['--reporter=json', `--outputFile=${world.path('report.json')}`];
  const tested = await run(join(folder, 'node_modules/.bin/vitest'), ['run', ...report], options);
  const { numTotalTests, numPassedTests } = JSON.parse(world.read('report.json')) as Record<string, number>;

  expect(compiled.out).toBe('');
  expect(compiled.code).toBe(0);
  expect(tested.code).toBe(0);
  expect(numPassedTests).toBe(numTotalTests);
  expect(numTotalTests).toBeGreaterThan(50);
}

// The compiler reads the whole tree: `npm run test:long`, which is part of what must hold before a change lands.
if (inject('sliceStride') === 1)
  test('a provider outside of the project is compiled and keeps the laws, with the tools of the guide', expectLawsKept);

test('the server takes it in through `plugins:`: its documents are pools, its machines run sessions and go', async (context) => {
  const world = openWorld(context);
  const folder = await takeOut(world);
  const depot = openDepot();
  const { url, close } = await serve(depot);
  context.onTestFinished(close);
  const config = readFileSync(join(folder, 'muster.yaml'), 'utf8')
    .replaceAll('http://127.0.0.1:9000', url)
    .replace('/opt/depot', folder)
    // Given back at once.
    .replace('max_idle_agents: 1', 'max_idle_agents: 0')
    .replace('idle_decay: 5m', 'idle_decay: 0s');
  const place = await placeServer(world, parse(config) as Record<string, unknown>);
  depot.keep('edge', 'name: edge\n');
  await startServer(world, place, {}, SOURCES).ready();
  const api = apiOf(world, place.http);

  const edge = await until('the document is a pool', () => api.pool('edge'));
  const ran = startCli(world, ['run', '-p', 'lent', '--', 'echo', 'hello'], {
    MUSTER_ADDRESS: `http://127.0.0.1:${place.http}`,
  });
  const lent = await until('a machine is lent', () => [...depot.machines.values()][0]);
  bootMachine(world, lent.name, lent.boot);
  const { code, out } = await ran.ended;
  await until('the machine is given back', () => depot.machines.size === 0);
  const shown = await runCli(world, ['pool', 'show', 'lent'], { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}` });

  expect(edge.owner).toMatchObject({ source: 'depot', key: 'edge', version: '1' });
  expect({ code, out }).toEqual({ code: 0, out: 'hello\n' });
  expect(lent.size).toBe('large');
  expect(lent.boot).toContain(`http://127.0.0.1:${place.http}/agent/`);
  expect(shown.out).toContain('depot_machine');
});

test('its image builder is part of `image build all`; it builds an image once, lists it and removes it', async (context) => {
  const world = openWorld(context);
  const plugin = join(await takeOut(world), 'index.ts');
  const workshop = openWorkshop(Date.now, 0);
  const { url, close } = await serve(workshop);
  context.onTestFinished(close);
  const nowhere = { DOCKER_HOST: 'tcp://127.0.0.1:9' };
  const image = (...words: string[]) => runCli(world, ['image', ...words, '--plugin', plugin], nowhere);
  const build = () => image('build', 'depot-image', '--version', '1.2.0', '--set', `url=${url}`);

  const unset = await image('build', 'all');
  const all = await image('build', 'all', '--set', `depot-image.url=${url}`);
  const begun = workshop.begun();
  const built = await build();
  const again = await build();
  const names = [...workshop.images.keys()];
  const listed = await image('ls', 'depot-image', '--set', `url=${url}`);
  const removed = await image('rm', names[0] ?? '', 'depot-image', '--set', `url=${url}`);

  expect(unset.err).toContain('depot-image: url');
  expect([all.code === 0, all.err.includes('docker is missing'), all.err.includes('depot-image')]).toEqual([
    false,
    true,
    false,
  ]);
  expect(begun, 'builds before all can start').toBe(0);
  expect(built.out).toMatch(/^muster-agent-1\.2\.0-\w{8} \(depot-image\): built in /);
  expect(again.out).toContain('nothing was built');
  expect([workshop.begun(), workshop.works.size, names.length]).toEqual([1, 0, 1]);
  expect(listed.out).toContain(names[0]);
  expect(removed.code).toBe(0);
  expect(workshop.images.size).toBe(0);
});

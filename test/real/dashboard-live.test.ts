// The dashboard follows the fleet, in a real browser: pools that grow and shrink, decisions, actions by role, a server that dies.
import { mkdirSync, rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import type { NewToken } from '../../src/api/wire/token.ts';
import { sharedPostgres } from '../../src/store/testing/postgres.ts';
import { apiOf } from '../system/harness/api.ts';
import { runCli } from '../system/harness/cli.ts';
import { placeServer, processPool, startServer } from '../system/harness/server.ts';
import { openWorld } from '../system/harness/world.ts';
import { chromiumPart, openChromium } from './parts/chromium.ts';
import { openDashboardScene, openVisitor } from './parts/dashboard-scene.ts';
import { needed } from './parts/part.ts';

/** The sums below the title of a pool: `2 busy`. */
const sums = (page: Page, text: string) => page.locator('.sums > span', { hasText: text });

const connection = (page: Page, text: string) => page.locator('.connection', { hasText: text });

test('the page of a pool shows it grow and shrink, and opens from its chart the decision that made it so', async (context) => {
  const { world, visit } = await openDashboardScene(context);
  const { page, open, complaints } = await visit();
  await open('/pools/local');
  await sums(page, '0 busy').waitFor();

  for (const name of ['one', 'two'])
    await runCli(world, ['run', '-d', '--pool', 'local', '--name', name, '--', 'sleep', '600']);
  await sums(page, '2 busy').waitFor();
  const mark = page.locator('.marks button').last();
  await mark.waitFor();
  const decision = page.getByRole('article', { name: 'Decision' });
  // Decisions of one minute share a mark: each click opens the next.
  const told = await until('the decision to launch is open', async () => {
    await mark.click();
    const text = await decision.innerText();
    return /launch 1\b/i.test(text) && text;
  });
  const pressed = await mark.getAttribute('aria-pressed');
  for (const name of ['one', 'two']) await runCli(world, ['session', 'kill', name]);
  await sums(page, '0 busy').waitFor();
  await sums(page, '0 workers of 0 to 3').waitFor();

  expect(pressed).toBe('true');
  expect(told).toMatch(/\d queued/);
  expect(told).toContain('Would change if:');
  expect(told).toContain('Facts');
  expect(complaints).toEqual([]);
});

test('a viewer sees no action and is told which role a page needs, an operator pauses a pool, an admin sees tokens', async (context) => {
  const { api, visit } = await openDashboardScene(context);
  const viewer = await visit({ role: 'viewer' });
  const operator = await visit({ role: 'operator' });
  const admin = await visit({ role: 'admin' });

  await viewer.open('/pools/local');
  await sums(viewer.page, '0 busy').waitFor();
  const asViewer = await viewer.page.locator('.title .buttons, .title').first().innerText();
  await viewer.open('/tokens');
  const refused = await viewer.page.getByRole('alert').innerText();

  await operator.open('/pools/local');
  await operator.page.getByRole('button', { name: 'Pause' }).click();
  const dialog = operator.page.getByRole('dialog');
  const question = await dialog.innerText();
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await operator.page.locator('.title .state', { hasText: 'paused' }).waitFor();

  await admin.open('/settings');
  await admin.page.getByRole('button', { name: 'Revoke' }).first().waitFor();

  expect(asViewer).not.toMatch(/Run|Pause|Drain/);
  expect(refused).toContain('Your role may not see this.');
  expect(refused).toContain('admin');
  expect(question).toContain('local');
  expect((await api.pool('local')).phase).toBe('paused');
});

test('a browser whose token is revoked says so within five seconds, and its pages get no more data', async (context) => {
  const scene = await openDashboardScene(context);
  const made = await scene.api.post<NewToken>('/tokens', { name: 'guest', role: 'operator' });
  const { out } = await runCli(scene.world, ['login'], { MUSTER_ADDRESS: scene.origin, MUSTER_TOKEN: made.token });
  const visitor = await openVisitor(scene.browser, scene.origin);
  await visitor.page.goto(out.trim());
  await visitor.page.waitForURL(`${scene.origin}/`);
  await visitor.open('/pools/local');
  await connection(visitor.page, 'live').waitFor();

  await scene.api.request(`/tokens/${made.id}`, { method: 'DELETE' });
  await visitor.page.getByText('This browser is logged out.').waitFor({ timeout: 5_000 });

  await visitor.page.locator('main.stale').waitFor();
});

test('kill -9 of the server: the page says since when it is away, and goes on by itself when the server is back', async (context) => {
  const scene = await openDashboardScene(context);
  const { page, open } = await scene.visit();
  await open('/pools/local');
  await connection(page, 'live').waitFor();
  await sums(page, '0 busy').waitFor();

  await scene.server.kill();
  await connection(page, 'offline since').waitFor();
  const grey = await page.locator('main.stale').count();
  const kept = await sums(page, '0 busy').count();
  await scene.restart();
  await connection(page, 'live').waitFor();
  await runCli(scene.world, ['run', '-d', '--pool', 'local', '--', 'sleep', '600']);
  await sums(page, '1 busy').waitFor();

  expect([grey, kept]).toEqual([1, 1]);
  expect(await page.locator('main.stale').count()).toBe(0);
});

test('a held removal names its pools on the page of the source, and is approved there', async (context) => {
  const { world, api, visit } = await openDashboardScene(context);
  const teams = ['c', 'd', 'e', 'f', 'g'].map((team) => `team-${team}`);
  for (const name of teams) world.write(`pools/${name}.yaml`, `name: ${name}\n`);
  await until(
    'all are pools',
    async () => (await api.get<{ items: object[] }>('/pools?source=teams')).items.length === 6,
  );
  rmSync(world.path('pools'), { recursive: true });
  mkdirSync(world.path('pools'));
  const { page, open } = await visit();
  await open('/sources/teams');

  await page.getByText('waits for approval').waitFor();
  await page.getByRole('button', { name: 'Approve the removal' }).click();
  const dialog = page.getByRole('dialog');
  const question = await dialog.innerText();
  await dialog.getByRole('button', { name: 'Approve the removal' }).click();
  await page.getByText('waits for approval').waitFor({ state: 'detached' });
  await until(
    'they are gone',
    async () => (await api.get<{ items: object[] }>('/pools?source=teams')).items.length === 0,
  );

  for (const name of teams) expect(question).toContain(`${name}.yaml`);
});

test('a takeover: the browser of a standby follows the next holder without being loaded again', async (context) => {
  const program = needed(context, await chromiumPart());
  const world = openWorld(context);
  const url = await (await sharedPostgres()).database();
  const b = await placeServer(world, {}, { name: 'b' });
  const config = {
    store: url,
    default_broker_info: { address: `http://127.0.0.1:${b.grpc}` },
    agent_pools: [processPool(world, 'local', { max_agents: 1, min_agents: 1 })],
  };
  const a = await placeServer(world, config, { name: 'a' });
  b.configure(config);
  const first = await startServer(world, a).ready();
  const second = startServer(world, b);
  await until('the other stands by', () => second.logged('listening').length > 0);
  const origin = `http://127.0.0.1:${b.http}`;
  const { out } = await runCli(world, ['login'], { MUSTER_ADDRESS: origin });
  const { page } = await openVisitor(await openChromium(context, program), origin);
  await page.goto(out.trim());
  await page.waitForURL(`${origin}/`);
  await connection(page, 'live').waitFor();
  await page.evaluate('globalThis.loadedOnce = true');

  await first.kill();
  await until('the standby holds the store', async () => {
    const { pid } = await apiOf(world, b.http).get<{ pid: number }>('/server');
    return pid === second.pid;
  });
  await connection(page, 'live').waitFor();
  await page.getByRole('link', { name: 'local', exact: true }).first().click();
  await apiOf(world, b.http).submit({ pool: 'local', command: ['sleep', '600'] });
  await sums(page, '1 busy').waitFor();

  expect(await page.evaluate('globalThis.loadedOnce')).toBe(true);
});

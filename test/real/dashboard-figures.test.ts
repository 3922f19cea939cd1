// Figures of the dashboard, printed and never asserted: the machine may be busy. What is counted is asserted.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, type TestContext, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { startCli } from '../system/harness/cli.ts';
import { openWorld } from '../system/harness/world.ts';
import { chromiumPart, openChromium } from './parts/chromium.ts';
import { openDashboardScene, openVisitor } from './parts/dashboard-scene.ts';
import type { LargeFleet, Used } from './parts/large-fleet.ts';
import { needed } from './parts/part.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const seconds = Number(process.env.MUSTER_FIGURES ?? 20);
const BROWSERS = 20;
const MOST_ROWS = 100;

async function openLargeFleet(context: TestContext) {
  const world = openWorld(context);
  const child = fork(join(import.meta.dirname, 'parts', 'large-fleet.ts'), [world.path('web'), String(BROWSERS + 1)]);
  context.onTestFinished(() => void child.kill('SIGKILL'));
  const [fleet] = (await once(child, 'message')) as [LargeFleet];
  return {
    ...fleet,
    async used(): Promise<Used> {
      child.send('used');
      const [used] = (await once(child, 'message')) as [Used];
      return used;
    },
  };
}

const LONG_TASKS = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' });`;

/** Forgets what was long before, and counts the texts that change in the list. */
const COUNT_CHANGES = `
  longTasks.length = 0;
  globalThis.changed = 0;
  new MutationObserver((all) => (changed += all.length))
    .observe(document.querySelector('.rows tbody'), { characterData: true, childList: true, subtree: true });`;

/** How long the main thread of a page was busy, in seconds. */
async function busySeconds(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
}

test('10,000 pools, 100,000 workers and 60 changes a second: how busy one browser is, and what twenty cost the server', async (context) => {
  const program = needed(context, await chromiumPart());
  const fleet = await openLargeFleet(context);
  const browser = await openChromium(context, program);
  const { page, open, complaints } = await openVisitor(browser, fleet.origin);
  await page.addInitScript(LONG_TASKS);
  await open(fleet.links[0] ?? '');
  await page.waitForURL(`${fleet.origin}/`);
  await open('/pools');
  await page.getByRole('link', { name: 'pool-00000' }).waitFor();
  await fleet.used();
  const alone = await costOfOne(fleet.used);
  const busy = await busySeconds(page);
  await page.evaluate(COUNT_CHANGES);
  const fromS = await busy();
  const fromMs = systemClock.monotonic();
  await systemClock.sleep(seconds * 1_000);
  const tookS = (systemClock.monotonic() - fromMs) / 1_000;
  const longest = await page.evaluate<number>('Math.max(0, ...longTasks)');
  say(
    `one browser with the list open for ${tookS.toFixed(0)} s: busy ${percent(((await busy()) - fromS) / tookS)}, longest task ${longest} ms`,
  );
  const changed = await page.evaluate<number>('changed');
  const rows = await page.locator('.rows tbody tr[data-row]').count();

  for (const link of fleet.links.slice(1)) {
    const visitor = await openVisitor(browser, fleet.origin);
    await visitor.open(link);
    await visitor.page.waitForURL(`${fleet.origin}/`);
    await visitor.open('/pools');
  }
  await fleet.used();
  await systemClock.sleep(seconds * 1_000);
  const { cpuMs, wallMs, longestStallMs } = await fleet.used();
  say(
    `${BROWSERS + 1} browsers: ${percent(cpuMs / wallMs)} of a core, longest stall ${longestStallMs.toFixed(0)} ms; with one: ${alone}; load ${loadavg()[0]?.toFixed(1)}`,
  );

  expect(changed).toBeGreaterThan(seconds);
  expect(rows).toBeGreaterThan(10);
  expect(rows).toBeLessThanOrEqual(MOST_ROWS);
  expect(complaints).toEqual([]);
});

/** The same server with one browser: mostly what its changes cost. */
async function costOfOne(used: () => Promise<Used>): Promise<string> {
  await systemClock.sleep(5_000);
  const { cpuMs, wallMs } = await used();
  return percent(cpuMs / wallMs);
}

const CHANGES = 20;

test('a change of a pool: how late it is on the page, beside `muster pool ls -w`', async (context) => {
  const { world, api, visit } = await openDashboardScene(context);
  const { page, open } = await visit();
  await open('/pools');
  await page.getByRole('link', { name: 'local', exact: true }).waitFor();
  const watching = startCli(world, ['pool', 'ls', '-w']);
  await until('it has listed', () => watching.out().includes('local'));
  const state = page.locator('tr', { hasText: 'local' }).locator('.state');
  const late: { page: number[]; cli: number[] } = { page: [], cli: [] };
  for (let at = 0; at < CHANGES; at++) {
    const [verb, word] = at % 2 === 0 ? ['pause', 'paused'] : ['resume', 'active'];
    const before = watching.out().length;
    const fromMs = systemClock.monotonic();
    await api.post(`/pools/local/${verb}`);
    await Promise.all([
      state
        .filter({ hasText: word })
        .waitFor()
        .then(() => late.page.push(systemClock.monotonic() - fromMs)),
      until('it is printed', () => watching.out().slice(before).includes(word)).then(() =>
        late.cli.push(systemClock.monotonic() - fromMs),
      ),
    ]);
  }
  watching.signal('SIGINT');
  const median = (of: readonly number[]): number => of.toSorted((a, b) => a - b)[CHANGES / 2] ?? Number.NaN;
  const [onPage, printed] = [median(late.page), median(late.cli)];
  say(
    `a change on the page after ${onPage.toFixed(0)} ms, by pool ls -w after ${printed.toFixed(0)} ms: ${(onPage / printed).toFixed(2)}`,
  );

  expect(late.page).toHaveLength(CHANGES);
});

// The dashboard in a real browser, on a real server with real agents and a simulated AWS.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { findings } from './parts/axe.ts';
import { type DashboardScene, THEMES, type Visitor, WIDTHS } from './parts/dashboard-scene.ts';
import { openFurnishedScene } from './parts/furnished-scene.ts';

/** Each page in the menu, and one of each kind that lists lead to, by the name of its picture. */
async function pathsOf({ api }: DashboardScene, page: Page): Promise<ReadonlyMap<string, string>> {
  const links = page.locator('.bar nav.wide a');
  await links.first().waitFor({ state: 'attached' });
  const inMenu = await links.evaluateAll((all) => all.map((link) => `${link.getAttribute('href')}`));
  const [worker] = await api.workers();
  const { items: sessions } = await api.get<{ items: { id: string }[] }>('/sessions');
  const { items: decisions } = await api.get<{ items: { id: string }[] }>('/decisions?subject=pool/gpu-pool');
  const { items: builds } = await api.get<{ items: { id: string }[] }>('/image-builds');
  const events = await api.events('pool.created');
  return new Map([
    ...inMenu.map((path) => [path.slice(1) || 'overview', path] as const),
    ['settings', '/settings'],
    ['pool', '/pools/local'],
    ['worker', `/workers/${worker?.name}`],
    ['session', `/sessions/${sessions[0]?.id}`],
    ['session-ended', `/sessions/${sessions.at(-1)?.id}`],
    ['session-new', `/sessions/new?again=${sessions.at(-1)?.id}`],
    ['decision', `/decisions/${decisions[0]?.id}`],
    ['source', '/sources/teams'],
    ['computer', '/computers/dev'],
    ['runtime', '/runtimes/deployment-1'],
    ['node', '/nodes/h100'],
    ['image-build', `/images/builds/${builds[0]?.id}`],
    ['event', `/events/${events[0]?.id}`],
    ['unknown', '/no-such-page'],
  ]);
}

/** Resolves when nothing of the page is loading. */
async function atRest({ page }: Visitor): Promise<void> {
  await page.locator('.connection', { hasText: 'live' }).waitFor();
  await until('nothing is loading', async () => (await page.locator('.loading').count()) === 0);
}

test('every page in both themes and widths has no serious finding of axe, no error in the console, and a picture', async (context) => {
  const scene = await openFurnishedScene(context);
  const found: string[] = [];
  for (const theme of THEMES)
    for (const width of WIDTHS) {
      const visitor = await scene.visit({ role: 'admin', theme, width });
      for (const [name, path] of await pathsOf(scene, visitor.page)) {
        await visitor.open(path);
        await atRest(visitor);
        await visitor.picture(name);
        for (const finding of await findings(visitor.page)) found.push(`${path} ${theme} ${width}: ${finding}`);
      }
      found.push(...visitor.complaints);
      await visitor.context.close();
    }

  expect(found).toEqual([]);
});

/** Marks all that takes the focus and is visible; answers how many there are. */
const MARK = `
  const all = [...document.querySelectorAll('a[href], button:not(:disabled), input, select, textarea, summary, [tabindex="0"]')];
  // Of radio buttons with one name the arrows choose.
  const visible = all.filter((one) => one.checkVisibility() && !(one.type === 'radio' && !one.checked));
  for (const one of visible) one.dataset.unreached = one.outerHTML.slice(0, 80);
  visible.length`;
const REACH = `
  const at = document.activeElement;
  delete at.dataset.unreached;
  getComputedStyle(at).outlineStyle !== 'none' || at === document.body`;
const LEFT = "[...document.querySelectorAll('[data-unreached]')].map((one) => one.dataset.unreached)";

/** What no number of Tabs reaches, and what takes the focus without showing it. */
async function keyboardFaults(page: Page): Promise<readonly string[]> {
  const count = await page.evaluate<number>(`{${MARK}}`);
  const faults: string[] = [];
  for (let at = 0; at < count + 2; at++) {
    await page.keyboard.press('Tab');
    const isShown = await page.evaluate<boolean>(`{${REACH}}`);
    if (!isShown)
      faults.push(`shows no focus: ${await page.evaluate('document.activeElement.outerHTML.slice(0, 80)')}`);
  }
  return [...faults, ...(await page.evaluate<string[]>(LEFT))];
}

test('the keyboard alone reaches all that takes the focus on every page, and letters go to pages, rows and names', async (context) => {
  const scene = await openFurnishedScene(context);
  const visitor = await scene.visit({ role: 'admin' });
  const { page, open } = visitor;
  const faults: string[] = [];
  const paths = await pathsOf(scene, page);
  for (const path of paths.values()) {
    await open(path);
    await atRest(visitor);
    for (const fault of await keyboardFaults(page)) faults.push(`${path}: ${fault}`);
  }

  await open('/');
  await atRest(visitor);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const skippedTo = await page.evaluate('document.activeElement.id');
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.waitForURL(`${scene.origin}/pools`);
  await page.getByRole('link', { name: 'local', exact: true }).waitFor();
  for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
  await page.waitForURL(`${scene.origin}/pools/local`);
  await page.keyboard.press('?');
  const keys = await page.getByRole('dialog').innerText();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('gpu-p');
  await page.getByRole('option', { name: 'gpu-pool' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${scene.origin}/pools/gpu-pool`);

  expect(faults).toEqual([]);
  expect(skippedTo).toBe('content');
  expect(keys).toContain('go to anything by its name');
});

// Who may see the dashboard, in a real browser: the login link, the session of a browser, other sites, the end of both.
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { runCli } from '../system/harness/cli.ts';
import { findings } from './parts/axe.ts';
import { type DashboardScene, openDashboardScene, openVisitor, THEMES, WIDTHS } from './parts/dashboard-scene.ts';

/** As `muster login` prints it: the path and query of the link. */
async function aLink({ world, origin }: DashboardScene): Promise<string> {
  const { out } = await runCli(world, ['login']);
  const link = new URL(out.trim());
  expect(link.origin).toBe(origin);
  return link.pathname + link.search;
}

test('a link logs one browser in, once; its code is in no address, storage or log, and the next browser is told how to get another', async (context) => {
  const scene = await openDashboardScene(context);
  const { browser, origin, world } = scene;
  const link = await aLink(scene);
  const code = new URLSearchParams(link.split('?')[1]).get('code') ?? '';

  const first = await openVisitor(browser, origin);
  await first.open(link);
  await first.page.locator('.connection', { hasText: 'live' }).waitFor();
  const address = first.page.url();
  const visible = await first.page.evaluate<string>(
    'document.cookie + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage })',
  );
  const cookies = await first.context.cookies();
  await first.page.goBack();
  const behind = first.page.url();
  const second = await openVisitor(browser, origin);
  await second.open(link);

  expect(address).toBe(`${origin}/`);
  expect(behind).not.toContain(code);
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', path: '/' }]);
  const secrets = [code, cookies[0]?.value ?? 'none'];
  for (const secret of secrets) {
    expect(visible).not.toContain(secret);
    for (const name of readdirSync(world.folder).filter((one) => one.endsWith('.log')))
      expect(world.read(name)).not.toContain(secret);
  }
  expect(await second.page.locator('main').innerText()).toMatch(/npx muster login/);
  expect(await second.page.title()).toBe('Log in to Muster');
});

test('a link that was sent in the page of another site logs in too', async (context) => {
  const scene = await openDashboardScene(context);
  const { page } = await openVisitor(scene.browser, scene.origin);
  const link = await aLink(scene);
  await page.route('http://chat.example/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: `<a href="${scene.origin}${link}">log in</a>` }),
  );
  await page.goto('http://chat.example/');

  await page.getByText('log in').click();

  await page.locator('.connection', { hasText: 'live' }).waitFor();
  expect(page.url()).toBe(`${scene.origin}/`);
});

test('a page of another site reads and changes nothing with the session of the browser', async (context) => {
  const scene = await openDashboardScene(context);
  const { page, context: session } = await scene.visit({ role: 'admin' });
  const other = await session.newPage();
  await other.route('http://evil.example/**', (route) => route.fulfill({ contentType: 'text/html', body: 'evil' }));
  await other.goto('http://evil.example/');

  const outcomes = await other.evaluate(async (origin) => {
    const tried = async (path: string, init: RequestInit) => {
      try {
        return (await fetch(origin + path, { credentials: 'include', ...init })).type;
      } catch {
        return 'refused';
      }
    };
    return [
      await tried('/api/v1/pools', {}),
      await tried('/api/v1/pools/local/pause', { method: 'POST', mode: 'no-cors' }),
      await tried('/logout', { method: 'POST', mode: 'no-cors' }),
    ];
  }, scene.origin);
  await page.reload();
  await page.locator('.connection', { hasText: 'live' }).waitFor();

  expect(outcomes[0]).toBe('refused');
  expect((await scene.api.pool('local')).phase).toBe('active');
});

test('two tabs of one browser: when one logs out, both say so, and neither shows new data', async (context) => {
  const scene = await openDashboardScene(context);
  const first = await scene.visit();
  const second = await first.context.newPage();
  await second.goto(`${scene.origin}/pools`);
  await second.locator('.connection', { hasText: 'live' }).waitFor();
  await first.open('/settings');

  await first.page.getByRole('button', { name: 'Log out' }).click();

  for (const page of [first.page, second]) {
    await page.getByText('This browser is logged out.').waitFor();
    await page.locator('main.stale').waitFor();
  }
  await second.reload();
  expect(await second.title()).toBe('Log in to Muster');
});

test('the page to log in has no serious finding of axe in both themes and widths', async (context) => {
  const scene = await openDashboardScene(context);
  for (const theme of THEMES)
    for (const width of WIDTHS) {
      const visitor = await openVisitor(scene.browser, scene.origin, { theme, width });
      await visitor.open('/pools');
      await visitor.picture('login');
      expect(await findings(visitor.page), `${theme} ${width}`).toEqual([]);
    }
});

test('a browser that runs no modules says in one sentence what is missing', async (context) => {
  const scene = await openDashboardScene(context);
  const visitor = await scene.visit();
  const plain = await scene.browser.newContext({ javaScriptEnabled: false });
  await plain.addCookies(await visitor.context.cookies());
  const page = await plain.newPage();
  await page.goto(scene.origin);

  // It stays hidden while the script may still come.
  const opacity = "getComputedStyle(document.querySelector('.without-modules')).opacity";
  await until('it is visible', async () => (await page.evaluate(opacity)) === '1');
  expect(await page.locator('body').innerText()).toBe(
    'The dashboard needs a browser that runs JavaScript modules; the command muster needs none.',
  );
});

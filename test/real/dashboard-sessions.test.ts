// Sessions in a real browser: started by the form, read while they write, typed in, ended, and run again.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { openDashboardScene, type Visitor } from './parts/dashboard-scene.ts';

const state = (page: Page, word: string) => page.locator('.title .state', { hasText: word });

/** Starts a session by the form, and answers its id once its page is there. */
async function startByForm({ page, open }: Visitor, command: string, more: readonly string[] = []): Promise<string> {
  await open('/sessions');
  await page.getByRole('link', { name: 'New session' }).click();
  await page.getByLabel('Pool').fill('local');
  await page.getByLabel('Command').fill(command);
  for (const label of ['In a shell', ...more]) await page.getByLabel(label).check();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForURL(/\/sessions\/(?!new)/);
  return decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '');
}

type Scrolled = Readonly<Record<'scrollHeight' | 'scrollTop' | 'clientHeight', number>>;

const PLANTED = '<img src=x onerror=document.title="planted">';
const PRINTS = [
  'echo first line',
  'echo trouble >&2',
  `printf '\\033[31mred\\033[0m \\342\\200\\256turned\\n'`,
  `echo '${PLANTED}'`,
  'for n in $(seq 300); do echo "row $n"; done',
  'sleep 2',
  'echo last line',
].join('; ');

test('a session is started by the form, read while it writes, and run again', async (context) => {
  const scene = await openDashboardScene(context);
  const visitor = await scene.visit();
  const { page } = visitor;
  const id = await startByForm(visitor, PRINTS);
  const lines = page.locator('.lines');
  await lines.getByText('row 300').waitFor();
  expect((await scene.api.session(id)).end).toBeUndefined();
  await state(page, 'exit 0').waitFor();
  await lines.getByText('last line').waitFor();

  // The browser has not laid out what is above the screen.
  expect(await page.locator('.stderr').textContent()).toBe('trouble');
  expect(await page.locator('.control').allTextContents()).toEqual(['^[[31m', '^[[0m', '<U+202E>']);
  expect(await lines.textContent()).toContain(PLANTED);
  expect(await lines.locator('img').count()).toBe(0);
  expect(await page.title()).not.toContain('planted');
  // It has followed the end.
  const { scrollHeight, scrollTop, clientHeight } = await lines.evaluate((element): Scrolled => {
    const { scrollHeight: high, scrollTop: top, clientHeight: shown } = element as unknown as Scrolled;
    return { scrollHeight: high, scrollTop: top, clientHeight: shown };
  });
  expect(scrollTop).toBeGreaterThan(0);
  expect(scrollHeight - scrollTop - clientHeight).toBeLessThan(24);
  await visitor.picture('session-output');

  await page.getByLabel('Search in the output').fill('ROW 29');
  await page.getByRole('status').getByText('1 of 11').waitFor();
  await page.keyboard.press('Enter');
  expect(await page.locator('mark[aria-current]').count()).toBe(1);
  await page.getByRole('status').getByText('2 of 11').waitFor();
  await visitor.picture('session-search');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${id}.txt`);

  await page.getByRole('link', { name: 'Run again' }).click();
  expect(await page.getByLabel('Command').inputValue()).toBe(PRINTS);
  await visitor.picture('session-again');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForURL((url) => /\/sessions\/(?!new)/.test(url.pathname) && !url.pathname.endsWith(id));
  await state(page, 'exit 0').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('a session that runs is cancelled and killed, and each asks once what it hits', async (context) => {
  const { visit } = await openDashboardScene(context);
  const visitor = await visit();
  const { page } = visitor;
  await startByForm(visitor, 'trap "" TERM; while true; do sleep 1; done');
  await state(page, 'running').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').getByText('get SIGTERM, and SIGKILL after 10s').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the session' }).waitFor();
  await visitor.picture('session-cancel');
  await page.getByRole('button', { name: 'Leave it' }).click();
  expect(await state(page, 'running').count()).toBe(1);

  await page.getByRole('button', { name: 'Kill' }).click();
  await page.getByRole('dialog').getByText('get SIGKILL at once').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Kill the session' }).click();
  await state(page, 'killed').waitFor();
  expect(await page.getByRole('button', { name: 'Kill' }).count()).toBe(0);
});

test('a terminal takes what one types, and answers nothing that a program asks of it', async (context) => {
  const { visit, api } = await openDashboardScene(context);
  const visitor = await visit();
  const { page } = visitor;
  const id = await startByForm(visitor, 'exec sh', ['With a terminal']);
  const screen = page.locator('.terminal .xterm-screen');
  await screen.click();
  const shows = (text: string) => until(`it shows ${text}`, async () => (await api.output(id)).includes(text));
  await page.keyboard.type('echo answer $((6*7))\n');
  await shows('answer 42');
  await page.locator('.xterm-accessibility-tree', { hasText: 'answer 42' }).waitFor();
  await visitor.picture('session-terminal');

  // Where it is, what it is, its colours, its title, the clipboard: what came back would be typed into the shell.
  const asks =
    '\\033[6n\\033[c\\033[>c\\033]10;?\\007\\033]52;c;cGxhbnRlZA==\\007\\033]52;c;?\\007\\033[21t\\033[?1004h\\005';
  await page.keyboard.type(
    `stty -echo -icanon min 0 time 20; printf '${asks}'; answer=$(dd bs=1 count=64 2>/dev/null | od -c | head -3); stty echo icanon; echo "came[$answer]end"\n`,
  );
  await until('the shell has listened', async () => /came\[[^$]*\]end/.test(await api.output(id)));
  expect(await api.output(id)).toMatch(/came\[\s*0000000\s*\]end/);

  await page.keyboard.type('exit 3\n');
  await page.getByText('The session has ended: exited 3.').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('a decision is opened from the chart of its pool, beside it and on a page of its own', async (context) => {
  const { visit, api } = await openDashboardScene(context);
  await api.submit({ pool: 'gpu-pool', command: ['sleep', '600'] });
  const visitor = await visit();
  const { page } = visitor;
  await visitor.open('/pools/gpu-pool');
  await page.locator('.marks button').first().click();
  await page.locator('.marks button[aria-pressed=true]').waitFor();
  const beside = await page.locator('.decision p strong').innerText();
  await page.getByRole('link', { name: 'Decision', exact: true }).click();
  await page.waitForURL(/\/decisions\//);
  await page.getByRole('heading', { name: 'Decision about pool gpu-pool' }).waitFor();

  expect(await page.locator('.decision p strong').innerText()).toBe(beside);
  await visitor.picture('decision');
  expect(visitor.complaints).toEqual([]);
});

test('new events come to the page by themselves, narrowed by subject and kind', async (context) => {
  const { visit, api } = await openDashboardScene(context);
  const visitor = await visit();
  const { page } = visitor;
  await visitor.open('/events?kind=session.kill-asked&colour=red');
  await page.getByText('Ignored, because this list has no such filter: colour=red').waitFor();
  await page.getByText('No event.').waitFor();
  const { id } = await api.submit({ pool: 'local', command: ['sleep', '600'] });
  await until('it runs', async () => (await api.session(id)).phase === 'running');
  await api.post(`/sessions/${id}/kill`, { force: true });
  await page.locator('tbody a', { hasText: `session/${id}` }).waitFor();

  await page.getByLabel('Subject').fill('pool/none');
  await page.waitForURL(/subject=pool/);
  await page.getByText('No event.').waitFor();
  await visitor.open('/events');
  await page.locator('tbody tr').first().waitFor();
  await visitor.picture('events');
  await page.locator('tbody tr[data-row] a').first().click();
  await page.waitForURL(/\/events\/./);
  await page.getByRole('link', { name: /All events about/ }).waitFor();
  await visitor.picture('event');
  expect(visitor.complaints).toEqual([]);
});

test('output and terminal go on where they were when the server was killed and is back', async (context) => {
  const scene = await openDashboardScene(context);
  const output = await scene.visit();
  const terminal = await scene.visit();
  await startByForm(output, 'for n in $(seq 1000); do echo "row $n"; sleep 0.2; done');
  const id = await startByForm(terminal, 'exec sh', ['With a terminal']);
  const shows = (text: string) =>
    until(`it shows ${text}`, async () => (await scene.api.output(id).catch(() => '')).includes(text));
  await output.page.locator('.lines').getByText('row 5', { exact: false }).first().waitFor();
  await terminal.page.locator('.terminal .xterm-screen').click();
  await terminal.page.keyboard.type('echo before $((1+1))\n');
  await shows('before 2');
  await scene.server.kill();
  await output.page.locator('.connection', { hasText: /offline since \d\d:\d\d, data of then/ }).waitFor();
  await terminal.page.getByText('The connection is lost. It is opened again by itself.').waitFor();
  expect(await output.page.locator('main.stale').count()).toBe(1);
  await output.picture('session-offline');

  await scene.restart();
  await output.page.locator('.connection', { hasText: 'live' }).waitFor();
  await terminal.page.getByText('The connection is lost').waitFor({ state: 'detached' });
  await terminal.page.keyboard.type('echo after $((2+2))\n');
  await shows('after 4');
  const seen = (): Promise<string[]> =>
    output.page.locator('.lines').evaluate((lines) => `${(lines as { textContent?: string }).textContent}`.split('\n'));
  const before = (await seen()).length;
  await until('more comes', async () => (await seen()).length > before + 5);
  const rows = await seen();
  expect(rows).toEqual(rows.map((_, at) => `row ${at + 1}`));
});

test('output and terminal of a browser whose token is revoked end within 5 seconds', async (context) => {
  const { visit, api } = await openDashboardScene(context);
  const visitor = await visit();
  const { page } = visitor;
  await startByForm(visitor, 'exec sh', ['With a terminal']);
  const { items: tokens } = await api.get<{ items: { id: string; name: string }[] }>('/tokens');
  const browser = tokens.find(({ name }) => name === 'browser');
  await page.locator('.terminal .xterm-screen').click();
  await api.request(`/tokens/${browser?.id}`, { method: 'DELETE' });
  await page.getByText('This browser is logged out.').first().waitFor({ timeout: 5_000 });
  await page.locator('.terminal').getByRole('status').waitFor({ timeout: 5_000 });
  await visitor.picture('session-logged-out');
});

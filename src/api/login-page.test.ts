import { expect, it } from 'vitest';
import { loginPage } from './login-page.ts';
import { apiWorld } from './testing/world.ts';

it('shows the reason and the address as text: neither can bring markup into the page', () => {
  const planted = '<script>alert("here")</script>';

  const page = loginPage({ why: `Refused: ${planted}`, origin: `http://${planted}` });

  expect(page).not.toContain('<script>');
  expect(page).toContain('Refused: &lt;script&gt;');
  expect(page).toContain('MUSTER_ADDRESS=http://&lt;script&gt;');
});

it('a redeemed link redirects programs, and leads browsers on by a page: they send a strict cookie after no redirect from another site', async () => {
  const { call } = await apiWorld();
  const redeem = async (headers: Record<string, string>) => {
    const { path } = (await call('POST', '/api/v1/login-links', { as: 'viewer' })).json<{ path: string }>();
    return call('GET', path, { headers });
  };

  const program = await redeem({});
  const browser = await redeem({ accept: 'text/html' });

  expect([program.statusCode, program.headers.location]).toEqual([303, '/']);
  expect(browser.statusCode).toBe(200);
  expect(browser.headers).not.toHaveProperty('location');
  expect(browser.body).toContain('<meta http-equiv="refresh" content="0; url=/">');
  for (const { headers } of [program, browser])
    expect(headers['set-cookie']).toMatch(/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
});

import { expect, it } from 'vitest';
import { loginPage } from './login-page.ts';

it('shows the reason and the address as text: neither can bring markup into the page', () => {
  const planted = '<script>alert("here")</script>';

  const page = loginPage({ why: `Refused: ${planted}`, origin: `http://${planted}` });

  expect(page).not.toContain('<script>');
  expect(page).toContain('Refused: &lt;script&gt;');
  expect(page).toContain('MUSTER_ADDRESS=http://&lt;script&gt;');
});

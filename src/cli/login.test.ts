import { expect, it } from 'vitest';
import { openScene } from './testing.ts';

const LINK = { path: '/login?code=secret', expires_at: '2026-01-01T00:05:00.000Z' };
const WORDS = ['login', '--open', '--address', 'http://there:1'];

it('`muster login` prints a link that logs a browser in', async () => {
  const { muster, output } = openScene(() => LINK);

  expect(await muster('login', '--address', 'http://there:1')).toBe(0);
  expect(output()).toBe('http://there:1/login?code=secret\n');
});

it('`muster login --open` opens the link in the browser, and prints its code nowhere', async () => {
  const opened: string[] = [];
  const openBrowser = async (address: string) => opened.push(address) > 0;
  const { muster, output, errors } = openScene(() => LINK, { openBrowser });

  expect(await muster(...WORDS)).toBe(0);
  expect(opened).toEqual(['http://there:1/login?code=secret']);
  expect(output()).toBe('The dashboard at http://there:1 opens in the browser.\n');
  expect(errors()).toBe('');
});

it('`muster login --open` says so and prints the link where no browser can be opened', async () => {
  const { muster, output, errors } = openScene(() => LINK, { openBrowser: async () => false });

  expect(await muster(...WORDS)).toBe(0);
  expect(output()).toBe('http://there:1/login?code=secret\n');
  expect(errors()).toBe('muster: No browser could be opened on this machine. Open this link yourself:\n');
});

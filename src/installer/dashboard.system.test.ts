import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dashboard, openDashboard } from './dashboard.ts';

const MOST_FIRST_PAGE_BYTES = 60_000;

let cache: string;
let dashboard: Dashboard;
let page: string;

beforeAll(async () => {
  cache = mkdtempSync(join(tmpdir(), 'muster-dashboard-'));
  dashboard = openDashboard({ cache, version: '1.0.0' });
  page = gunzipSync((await dashboard.find('index.html'))?.gzipped ?? Buffer.alloc(0)).toString();
});
afterAll(() => rmSync(cache, { recursive: true, force: true }));

const namesIn = (html: string): string[] => [...html.matchAll(/"\/assets\/([^"]+)"/g)].map(([, name = '']) => name);

/** The one folder with the files of a bundle. */
function folder(): string {
  const [name = '', ...others] = readdirSync(cache).filter((entry) => entry !== 'made.json');
  expect(others).toEqual([]);
  return join(cache, name);
}

describe('the bundle of the dashboard', () => {
  it('is at most 60 kB for the first page, packed', async () => {
    let bytes = (await dashboard.find('index.html'))?.gzipped.length ?? 0;
    for (const name of namesIn(page)) bytes += (await dashboard.find(name))?.gzipped.length ?? Number.NaN;

    expect(bytes).toBeLessThanOrEqual(MOST_FIRST_PAGE_BYTES);
    expect(bytes).toBeGreaterThan(5_000);
  });

  it('names every file with a hash, and loads nothing from elsewhere', async () => {
    expect(namesIn(page).length).toBeGreaterThanOrEqual(2);
    for (const name of namesIn(page)) expect(name).toMatch(/^[\w-]+-[A-Z0-9]{8}\.(js|css)$/);
    expect(page).not.toMatch(/https?:/);
    // Nothing runs inside the page: its policy would refuse that.
    expect(page).not.toMatch(/<script(?![^>]* src=)/);
  });

  it('is made once for the same sources, and again for another version', async () => {
    const made = statSync(join(folder(), 'files.json')).ctimeMs;

    await openDashboard({ cache, version: '1.0.0' }).find('index.html');
    expect(statSync(join(folder(), 'files.json')).ctimeMs).toBe(made);

    await openDashboard({ cache, version: '1.0.1' }).find('index.html');
    expect(statSync(join(folder(), 'files.json')).ctimeMs).not.toBe(made);
  });
});

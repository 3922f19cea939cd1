// The dashboard of a real server in a real browser: a process pool, a simulated AWS, and a source with a refused document.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { TestContext } from 'vitest';
import type { LoginLink } from '../../../src/api/wire/token.ts';
import { type Api, apiOf } from '../../system/harness/api.ts';
import { gpuPool, type ServedAws, serveAws } from '../../system/harness/aws.ts';
import {
  placeServer,
  processPool,
  type RunningServer,
  type ServerPlace,
  startServer,
} from '../../system/harness/server.ts';
import { openWorld, ROOT, type World } from '../../system/harness/world.ts';
import { chromiumPart, openChromium } from './chromium.ts';
import { needed } from './part.ts';

export type Role = 'viewer' | 'operator' | 'admin';
export type Theme = 'light' | 'dark';

export const THEMES: readonly Theme[] = ['light', 'dark'];
export const WIDTHS: readonly number[] = [1280, 400];
const HEIGHT = 900;

/** Where tests leave pictures of the pages; git ignores it. */
const PICTURES = join(ROOT, '.cache', 'dashboard');

/** A browser with a session of its own, and the page that it shows. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, refused loads, violations of the policy: what a browser shows in its console. */
  readonly complaints: string[];
  open(path: string): Promise<void>;
  /** Into the folder of pictures: the whole page. */
  picture(name: string): Promise<void>;
}

export interface VisitorOptions {
  readonly role?: Role;
  readonly theme?: Theme;
  readonly width?: number;
}

export interface DashboardScene {
  readonly world: World;
  readonly api: Api;
  readonly aws: ServedAws;
  readonly place: ServerPlace;
  readonly server: RunningServer;
  readonly browser: Browser;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** A new browser that follows a login link of that role. */
  visit(options?: VisitorOptions): Promise<Visitor>;
  /** The same server again, where it was killed. */
  restart(): Promise<RunningServer>;
}

const TEAM = 'name: team-a\ndescription: Agents of team A\n';
const REFUSED = 'name: team-b\nauto_scaler:\n  max_agent: 3\n  backend:\n    process: {}\n';

/** What a scene has beside its pools. */
export interface SceneAddition {
  /** Of the server's file. */
  readonly config: Readonly<Record<string, unknown>>;
  /** For the server. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts the server, and skips the test where there is no browser. */
export async function openDashboardScene(
  context: TestContext,
  addTo: (world: World) => SceneAddition | Promise<SceneAddition> = () => ({ config: {}, env: {} }),
): Promise<DashboardScene> {
  const program = needed(context, await chromiumPart());
  const world = openWorld(context);
  const aws = await serveAws(context, world);
  const { config, env: added } = await addTo(world);
  const env = { ...aws.env, ...added };
  world.write('pools/team-a.yaml', TEAM);
  world.write('pools/team-b.yaml', REFUSED);
  const place = await placeServer(world, {
    agent_pools: [processPool(world, 'local', { max_agents: 3, max_idle_agents: 1, idle_decay: '2s' }), gpuPool()],
    provisioners: [{ name: 'teams', file: { path: world.path('pools'), update_interval: '1s' } }],
    ...config,
  });
  const server = await startServer(world, place, env).ready();
  const browser = await openChromium(context, program);
  const api = apiOf(world, place.http);
  const origin = `http://127.0.0.1:${place.http}`;
  return {
    ...{ world, api, aws, place, server, browser, origin },
    async visit({ role = 'operator', ...look } = {}) {
      const visitor = await openVisitor(browser, origin, look);
      const { path } = await api.post<LoginLink>('/login-links', { role });
      await visitor.open(path);
      await visitor.page.waitForURL(`${origin}/`);
      return visitor;
    },
    restart: () => startServer(world, place, env).ready(),
  };
}

/** A browser that is not logged in. */
export async function openVisitor(
  browser: Browser,
  origin: string,
  { theme = 'light', width = 1280 }: Omit<VisitorOptions, 'role'> = {},
): Promise<Visitor> {
  const viewport = { width, height: HEIGHT };
  const context = await browser.newContext({ viewport, colorScheme: theme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return {
    ...{ page, context, complaints },
    async open(path) {
      await page.goto(origin + path);
    },
    async picture(name) {
      mkdirSync(PICTURES, { recursive: true });
      // Lists render only the rows on the screen: the screen becomes as high as the page.
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      await page.setViewportSize({ width, height: Math.max(height, HEIGHT) });
      // A picture of the full page would scroll what scrolls within it back to its beginning.
      await page.screenshot({ path: join(PICTURES, `${name}-${theme}-${width}.png`) });
      await page.setViewportSize(viewport);
    },
  };
}

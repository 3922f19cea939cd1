// A Chromium for the dashboard: one that is installed, or Debian's, which root installs with the packages that it needs.

import { type Browser, chromium } from 'playwright-core';
import type { TestContext } from 'vitest';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const PROGRAMS = ['chromium-headless-shell', 'chromium'];
const [PACKAGE = ''] = PROGRAMS;
const env = { ...(process.env as Record<string, string>), DEBIAN_FRONTEND: 'noninteractive' };

async function installed(): Promise<string | undefined> {
  for (const program of PROGRAMS) {
    const { code, out } = await run('which', [program], { env });
    if (code === 0) return out.trim();
  }
  return undefined;
}

export interface ChromiumPart {
  readonly program: string;
}

export async function chromiumPart(): Promise<Part<ChromiumPart>> {
  const before = await installed();
  if (before !== undefined) return { program: before };
  if (process.getuid?.() !== 0) return { missing: `${PROGRAMS.join(' or ')}, or root to install it from Debian` };
  const listed = await run('apt-get', ['update'], { env });
  const added = await run('apt-get', ['install', '-y', '--no-install-recommends', PACKAGE], { env });
  const program = await installed();
  if (program !== undefined) return { program };
  return { missing: `${PACKAGE} from Debian (${complaintOf(added.code === 0 ? listed : added)})` };
}

/** Ends with the test. */
export async function openChromium(
  context: Pick<TestContext, 'onTestFinished'>,
  { program }: ChromiumPart,
): Promise<Browser> {
  // Its sandbox refuses root; the pages are those of the server under test.
  const browser = await chromium.launch({ executablePath: program, chromiumSandbox: false });
  context.onTestFinished(() => browser.close());
  return browser;
}

// A Cloud Storage that others wrote, from Go's module proxy.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const VERSION = '1.56.1';
// It is some minutes of processor time; the first run on a machine pays for it.
const BUILD_WITHIN_MS = 1_200_000;

export interface FakeGcsServer {
  /** Starts it with nothing in it; answers its address. */
  start(context: Pick<TestContext, 'onTestFinished'>): Promise<string>;
}

async function start(program: string, context: Pick<TestContext, 'onTestFinished'>): Promise<string> {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const where = ['-scheme', 'http', '-host', '127.0.0.1', '-port', String(port), '-external-url', address];
  const child = spawn(program, ['-backend', 'memory', '-log-level', 'error', ...where], { stdio: 'ignore' });
  context.onTestFinished(() => void child.kill('SIGKILL'));
  await until('fake-gcs-server answers', async () => (await fetch(`${address}/storage/v1/b`)).ok);
  return address;
}

/** The program, from the cache or built now. */
export async function fakeGcsServer(): Promise<Part<FakeGcsServer>> {
  const folder = join(homedir(), '.cache', 'muster', `fake-gcs-server-${VERSION}`);
  const program = join(folder, 'fake-gcs-server');
  if (!existsSync(program)) {
    const env = { ...(process.env as Record<string, string>), GOBIN: folder };
    const words = ['install', `github.com/fsouza/fake-gcs-server@v${VERSION}`];
    const built = await run('go', words, { env, withinMs: BUILD_WITHIN_MS });
    if (built.code !== 0)
      return { missing: `fake-gcs-server ${VERSION}, by Go's module proxy (${complaintOf(built)})` };
  }
  return { start: (context) => start(program, context) };
}

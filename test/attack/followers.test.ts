// Two hundred callers follow the same long output; some read slowly, some not at all. They share what the server holds of
// it, and nobody else waits for them.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { breach, openTarget, say, type Target } from './target.ts';

let target: Target;
beforeAll(async () => {
  target = await openTarget({ hasAgent: true });
});
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  return target?.close();
});

const BYTES = 50 * 2 ** 20;
const COUNTS = { fast: 100, slow: 50, stalled: 50 };
const MOST_MB = 300;
const LOOK_EVERY_MS = 50;

function startReaders(path: string): { child: ChildProcess; next(): Promise<string> } {
  const about = JSON.stringify({ port: target.http, token: target.token('viewer'), path, counts: COUNTS });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'follow-many.mjs'), about], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value } = await lines.next();
    return String(value);
  };
  return { child, next };
}

/** The most memory while something runs. */
async function mostMb(running: Promise<unknown>): Promise<number> {
  let isOver = false;
  let most = 0;
  const over = (): void => {
    isOver = true;
  };
  running.then(over, over);
  while (!isOver) {
    most = Math.max(most, target.memoryMb());
    await systemClock.sleep(LOOK_EVERY_MS);
  }
  return most;
}

test.each([
  ['raw', 'raw=true&'],
  ['lines of JSON', ''],
])('200 followers of 50 MB of output, as %s', async (what, query) => {
  const go = target.path(`go-${what}`);
  const script = 'while [ ! -e "$1" ]; do sleep 0.05; done; head -c "$2" /dev/zero | tr "\\0" x';
  const id = await target.start(['sh', '-c', script, 'sh', go, String(BYTES)]);
  const { child, next } = startReaders(`/api/v1/sessions/${id}/output?${query}follow=true`);
  if ((await next()) !== 'answered') breach('a follower was refused');
  const before = target.memoryMb();

  await target.whileOthersAsk(`200 followers, ${what}`, async () => {
    target.write(`go-${what}`);
    const read = next().then((line) => line === 'fast' || breach('a fast follower did not come to the end'));
    const most = await mostMb(read);
    await read;
    say(`200 followers, ${what}: ${(most - before).toFixed(0)} MB more at most`);
    if (most - before > MOST_MB) breach(`200 followers took ${(most - before).toFixed(0)} MB`);
    child.stdin?.write('go on\n');
    const [bytes, ...others] = JSON.parse(await next()) as number[];
    if (others.length > 0) breach(`followers of one output got ${[bytes, ...others]} bytes`);
    if (query !== '' && bytes !== BYTES) breach(`followers got ${bytes} bytes of ${BYTES}`);
  });
  target.mustBeSound();
});

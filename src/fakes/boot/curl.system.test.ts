import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { type Listener, listen } from '../listen.ts';
import { placeCurl } from './curl.ts';

const bin = mkdtempSync(join(tmpdir(), 'muster-curl-'));
placeCurl(bin, () => undefined);
afterAll(() => rmSync(bin, { recursive: true, force: true }));

let server: Listener;
beforeEach(async () => {
  server = await listen(0, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/missing') return new Response('nothing here', { status: 404 });
    return new Response(`${request.method} ${request.headers.get('x-key')} ${await request.text()}`);
  });
});
afterEach(() => server.close());

/** What a shell sees of a line with `curl` in it; `$0` is the server. */
async function run(line: string): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const env = { PATH: `${bin}:${process.env.PATH}` };
  return promisify(execFile)('/bin/sh', ['-c', line, server.address], { env, cwd: bin }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code, out: stdout, err: stderr }),
  );
}

it('sends method, headers and data as they are written, in the options or on its input', async () => {
  expect(await run('curl -fsS -X PUT -H "x-key: a b" "$0/x"')).toEqual({ code: 0, out: 'PUT a b ', err: '' });
  expect(await run('printf \'header = "X-Key: secret"\\n\' | curl -fsS -K - "$0/x"')).toMatchObject({
    out: 'GET secret ',
  });
  expect(await run('curl -fsS --noproxy "*" --data-binary "one\ntwo" "$0/x"')).toMatchObject({
    out: 'POST null one\ntwo',
  });
});

it('writes what it gets to the file that is named', async () => {
  expect(await run('curl -fsS --retry 5 --retry-connrefused -o got "$0/x"')).toEqual({ code: 0, out: '', err: '' });
  expect(readFileSync(join(bin, 'got'), 'utf8')).toBe('GET null ');
});

it('fails as curl does where the answer is an error, and where no server listens', async () => {
  expect(await run('curl -fsS "$0/missing"')).toEqual({
    code: 22,
    out: '',
    err: 'curl: (22) The requested URL returned error: 404\n',
  });
  expect(await run('curl -fs "$0/missing"')).toMatchObject({ code: 22, err: '' });
  expect(await run('curl -s "$0/missing"')).toMatchObject({ code: 0, out: 'nothing here' });
  await server.close();
  expect(await run('curl -fsS "$0/x"')).toMatchObject({ code: 7 });
});

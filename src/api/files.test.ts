import { hash } from 'node:crypto';
import { Header } from 'tar';
import { describe, expect, it } from 'vitest';
import { apiWorld } from './testing/world.ts';

const sha = (text: string): string => hash('sha256', text, 'hex');

function archiveOf(entries: readonly (readonly [string, string])[]): Buffer {
  const blocks = entries.flatMap(([path, text]) => {
    const header = Buffer.alloc(512);
    new Header({ path, size: text.length, type: 'File', mode: 0o600, mtime: new Date(0) }).encode(header);
    return [header, Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
const BYTES = { 'content-type': 'application/octet-stream' };

describe('files', () => {
  it('are uploaded once, and then no longer missing for the same token', async () => {
    const { call } = await apiWorld();
    const ask = () =>
      call('POST', '/api/v1/files/missing', { payload: { hashes: [sha('hello'), sha('')] }, as: 'operator' });
    expect((await ask()).json()).toEqual({ missing: [sha('hello'), sha('')] });

    for (const text of ['hello', '']) {
      const put = await call('PUT', `/api/v1/files/${sha(text)}`, { payload: text, headers: BYTES, as: 'operator' });
      expect(put.statusCode, put.body).toBe(204);
    }

    expect((await ask()).json()).toEqual({ missing: [] });
    expect((await call('GET', '/api/v1/files')).json()).toMatchObject({ files: 2, bytes: 5, session_files: 50_000 });
  });

  it('come together in an archive, each named by its hash', async () => {
    const { call, deps } = await apiWorld();
    const send = (entries: readonly [string, string][], as: 'operator' | 'viewer') =>
      call('POST', '/api/v1/files', { payload: archiveOf(entries), headers: BYTES, as });
    const good = ['hello', '', 'x'.repeat(5_000)].map((text): [string, string] => [sha(text), text]);

    expect((await send(good, 'viewer')).statusCode).toBe(403);
    expect(deps.store.view.files.size).toBe(0);
    expect((await send(good, 'operator')).statusCode).toBe(204);
    expect((await call('GET', '/api/v1/files')).json()).toMatchObject({ files: 3, bytes: 5_005 });

    const { statusCode, body } = await send([[sha('right'), 'wrong']], 'operator');
    expect(statusCode).toBe(422);
    expect(body).toContain(`not ${sha('right')}`);
  });

  it('whose bytes have another hash are refused', async () => {
    const { call } = await apiWorld();

    const { statusCode, body } = await call('PUT', `/api/v1/files/${sha('hello')}`, {
      payload: 'other',
      headers: BYTES,
    });

    expect(statusCode).toBe(422);
    expect(body).toContain(`not ${sha('hello')}`);
  });

  it('cannot be uploaded by a viewer', async () => {
    const { call, deps } = await apiWorld();
    const put = await call('PUT', `/api/v1/files/${sha('x')}`, { payload: 'x', headers: BYTES, as: 'viewer' });
    const ask = await call('POST', '/api/v1/files/missing', { payload: { hashes: [sha('x')] }, as: 'viewer' });

    expect([put.statusCode, ask.statusCode]).toEqual([403, 403]);
    expect(deps.store.view.files.size).toBe(0);
  });

  it('come as plain bytes and under a whole hash alone', async () => {
    const { call } = await apiWorld();
    const json = await call('PUT', `/api/v1/files/${sha('{}')}`, { payload: {} });
    const short = await call('PUT', '/api/v1/files/abc', { payload: 'x', headers: BYTES });
    const elsewhere = await call('POST', '/api/v1/sessions', { payload: '{}', headers: BYTES });

    expect([json.statusCode, short.statusCode, elsewhere.statusCode]).toEqual([415, 422, 415]);
  });
});

import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { apiWorld } from './testing/world.ts';

const sha = (text: string): string => hash('sha256', text, 'hex');
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

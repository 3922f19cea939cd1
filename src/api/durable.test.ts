import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';

/** A disk that can be stopped, and later let go or broken. */
function slowDisk() {
  let isStopped = false;
  let letGo: (fault?: Fault) => void = () => {};
  return {
    async beforeWrite(): Promise<void> {
      if (!isStopped) return;
      await new Promise<void>((resolve, reject) => {
        letGo = (fault) => (fault ? reject(fault) : resolve());
      });
    },
    stop: () => {
      isStopped = true;
    },
    /** The write that waits is done; the next one waits again. */
    step: () => letGo(),
    go(fault?: Fault) {
      isStopped = false;
      letGo(fault);
    },
  };
}

const gpu = poolWithSecret('gpu');

describe('durability', () => {
  it('no answer leaves while the disk stands still, whatever was asked; health does', async () => {
    const disk = slowDisk();
    const { call, deps, clock, api } = await apiWorld({ beforeWrite: disk.beforeWrite, rows: [row('pools', gpu)] });
    disk.stop();
    void deps.store.commit([row('pools', { ...gpu, revision: 2 })]);
    await clock.settle();
    const answered: string[] = [];
    const ask = (what: string, asked: Promise<{ statusCode: number }>) =>
      void asked.then(({ statusCode }) => answered.push(`${what} ${statusCode}`));

    ask('post', call('POST', '/api/v1/sessions', { payload: { pool: 'gpu', command: ['true'] } }));
    ask('get', call('GET', '/api/v1/pools/gpu'));
    ask('list', call('GET', '/api/v1/sessions'));
    ask('output', call('GET', '/api/v1/sessions/x/output'));
    ask('missing', call('GET', '/api/v1/pools/none'));
    ask('stranger', api.app.inject({ url: '/api/v1/pools', headers: { host: 'localhost' } }));
    ask('health', api.app.inject({ url: '/healthz' }));
    for (let turn = 0; turn < 20; turn++) await clock.settle();
    const before = [...answered];
    disk.go();
    for (let turn = 0; turn < 20; turn++) await clock.settle();

    expect(before).toEqual(['health 200']);
    expect(answered.toSorted()).toEqual(
      ['health 200', 'post 201', 'get 200', 'list 200', 'output 404', 'missing 404', 'stranger 401'].toSorted(),
    );
  });

  it('an accepted session is answered once it is durable, whatever was committed since', async () => {
    const disk = slowDisk();
    const { call, deps, clock } = await apiWorld({ beforeWrite: disk.beforeWrite, rows: [row('pools', gpu)] });
    disk.stop();
    const answered: string[] = [];
    const ask = (what: string, asked: Promise<{ statusCode: number }>) =>
      void asked.then(({ statusCode }) => answered.push(`${what} ${statusCode}`));
    ask('post', call('POST', '/api/v1/sessions', { payload: { pool: 'gpu', command: ['true'] } }));
    for (let turn = 0; turn < 20; turn++) await clock.settle();
    void deps.store.commit([row('pools', { ...gpu, revision: 2 })]);
    ask('get', call('GET', '/api/v1/pools/gpu'));
    for (let turn = 0; turn < 20; turn++) await clock.settle();
    expect(answered).toEqual([]);

    disk.step();

    for (let turn = 0; turn < 20; turn++) await clock.settle();
    expect(answered).toEqual(['post 201']);
    disk.go();
  });

  it('a broken store is 503 with the reason, and nothing of the answer leaves', async () => {
    const disk = slowDisk();
    const { call, clock, api } = await apiWorld({ beforeWrite: disk.beforeWrite, rows: [row('pools', gpu)] });
    disk.stop();
    const writing = call('POST', '/api/v1/pools', { payload: { name: 'new' } });
    for (let turn = 0; turn < 20; turn++) await clock.settle();
    const reading = call('GET', '/api/v1/pools');
    const ready = api.app.inject({ url: '/readyz' });
    for (let turn = 0; turn < 20; turn++) await clock.settle();

    disk.go(new Fault('unavailable', 'The disk is full.'));

    const [written, read, notReady, alive, later] = [
      await writing,
      await reading,
      await ready,
      await api.app.inject({ url: '/healthz' }),
      await call('GET', '/api/v1/pools/gpu'),
    ];
    for (const answer of [written, read, notReady, later]) {
      expect(answer.statusCode).toBe(503);
      expect(answer.headers.etag).toBeUndefined();
      expect(answer.json()).toMatchObject({
        kind: 'unavailable',
        detail: expect.stringContaining('The disk is full.'),
      });
    }
    expect(alive.statusCode).toBe(200);
  });

  it('readiness tells why not: standing by, stopping, or a store that hangs', async () => {
    const disk = slowDisk();
    let why: string | undefined;
    const world = await apiWorld({ beforeWrite: disk.beforeWrite });
    const server = { ...world.deps.server, whyNotReady: () => why };
    const { api, clock, deps } = await apiWorld({ beforeWrite: disk.beforeWrite, over: { server } });
    const ready = () => api.app.inject({ url: '/readyz' });

    const good = await ready();
    why = 'Shutting down.';
    const stopping = await ready();
    why = undefined;
    disk.stop();
    void deps.store.commit([row('pools', gpu)]);
    const hanging = ready();
    await clock.advance(2_000);

    expect([good.statusCode, good.body]).toEqual([200, '{"status":"ok"}']);
    expect([stopping.statusCode, stopping.json().detail]).toEqual([503, 'Shutting down.']);
    expect((await hanging).json()).toMatchObject({ status: 503, detail: expect.stringContaining('does not answer') });
  });
});

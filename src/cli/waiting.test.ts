import { beforeAll, describe, expect, it } from 'vitest';
import type { Session } from '../api/wire/session.ts';
import { type Asked, aSession, openScene, pieces, raw } from './testing.ts';

const isSubmit = ({ method, path }: Asked): boolean => method === 'POST' && path === '/sessions';
const isOutput = ({ path }: Asked): boolean => path.endsWith('/output');

// Loading the command takes real time, which the virtual clock does not wait for.
beforeAll(() => openScene(() => ({})).muster('run', '--help'));

describe('waiting for a worker', () => {
  const calm = { counts: { queued: 1, idle: 0, starting: 0 }, starting: [], decisions: [] };

  /** A run whose session waits; `why` is what the pool says. */
  function waiting(why: () => object, { isTTY = false, session = {}, words = ['run', '--', 'sleep', '100'] } = {}) {
    const state: { phase: Session['phase'] } = { phase: 'queued' };
    const scene = openScene(
      (one) => {
        if (isSubmit(one)) return { items: (one.body as unknown[]).map((_, n) => aSession({ id: `s${n}` })) };
        if (one.path === '/pools/local/why') return { ...calm, ...why() };
        return isOutput(one) ? raw(pieces([], { isOpen: true })) : aSession({ phase: state.phase, ...session });
      },
      { isTTY },
    );
    void scene.muster(...words);
    return { ...scene, state };
  }

  const LONG = `Cannot launch: ${'quota '.repeat(40)}is used up. Ask for more.`;

  it('says the cause on a terminal first and whole, however long, and counts the seconds below it', async () => {
    const { clock, errors, state } = waiting(() => ({ trouble: LONG }), { isTTY: true });

    await clock.advance(3_100);
    expect(errors()).toContain(`muster: ${LONG} (waiting for a worker in pool local)\n`);
    expect(errors()).toContain('waiting for a worker in pool local (3s)');
    state.phase = 'running';
    await clock.advance(1_000);
    const before = errors();
    await clock.advance(5_000);

    expect(errors()).toBe(before);
  });

  it('says it without a terminal too, once for each cause and not for each figure', async () => {
    let why: object = { decisions: [{ why: '1 queued, 0 free.' }] };
    const { clock, errors, state } = waiting(() => why);

    await clock.advance(10_000);
    why = { decisions: [{ why: '7 queued, 0 free.' }] };
    await clock.advance(10_000);
    why = { trouble: 'Access denied. Check the role.' };
    await clock.advance(60_000);
    state.phase = 'running';
    await clock.advance(60_000);

    expect(errors()).toBe(
      'muster: 1 queued, 0 free. (waiting for a worker in pool local)\n' +
        'muster: Access denied. Check the role. (waiting for a worker in pool local)\n',
    );
  });

  it('names what a worker that starts waits for, and how to thaw a frozen pool', async () => {
    let why: object = {
      counts: { queued: 1, idle: 0, starting: 2 },
      starting: [{ worker: 'm-1', since: '2026-01-01T00:00:00.000Z', waits: 'its cloud is creating the machine' }],
    };
    const { clock, errors } = waiting(() => why);

    await clock.advance(2_000);
    why = { frozen: { why: 'Bill.', thaw: 'muster thaw -p local' } };
    await clock.advance(10_000);

    expect(errors()).toContain('muster: 1 queued, 0 idle, 2 starting: its cloud is creating the machine (waiting');
    expect(errors()).toContain('muster: The pool is frozen: Bill. To thaw it, run `muster thaw -p local`.');
  });

  it('says it for the first of many, and does not repeat what was said at submission', async () => {
    const unmatched = 'No worker of pool local offers gpu=h100.';
    const many = waiting(() => ({ trouble: 'No quota.' }), { words: ['run', '--count', '3', '--', 'x'] });
    const said = openScene((one) => {
      if (isSubmit(one)) return { items: [aSession({ id: 's0', phase: 'queued', why: unmatched })] };
      return isOutput(one) ? raw(pieces([], { isOpen: true })) : aSession({ phase: 'queued', why: unmatched });
    });
    void said.muster('run', '--', 'x');

    await many.clock.advance(20_000);
    await said.clock.advance(20_000);

    expect(many.errors()).toBe('muster: No quota. (waiting for a worker in pool local)\n');
    expect(said.errors()).toBe(`muster: ${unmatched}\n`);
  });

  it('says nothing of a session that runs already, however silent it is', async () => {
    const { clock, errors } = waiting(() => ({}), { isTTY: true, session: { phase: 'running' } });

    await clock.advance(5_000);

    expect(errors()).toBe('');
  });

  it('names the labels that a session asks for', async () => {
    const { clock, errors } = waiting(() => ({}), { session: { labels: { zone: 'desk', gpu: 'yes' } } });

    await clock.advance(3_100);

    expect(errors()).toBe('muster: waiting for a worker in pool local with zone=desk, gpu=yes\n');
  });
});

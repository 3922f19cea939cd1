import { describe, expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { TunnelPieceSchema } from './gen/velda/muster_pb.ts';
import { encode } from './messages.ts';
import { aCallInMemory } from './testing.ts';
import { openTunnelSide, type TunnelSide } from './tunnel-pieces.ts';

function aTunnel() {
  const { client, server, breakOff } = aCallInMemory();
  return { agent: openTunnelSide(client), broker: openTunnelSide(server), client, server, breakOff };
}

async function textOf(side: TunnelSide): Promise<string> {
  let text = '';
  for (let piece = await side.next(); piece; piece = await side.next()) text += Buffer.from(piece.data).toString();
  return text;
}

const rounds = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Whether it is over by now. */
function settled(promise: Promise<unknown>): () => boolean {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  promise.then(settle, settle);
  return () => isSettled;
}

describe('a tunnel', () => {
  test('carries bytes both ways, and each side may end its own first', async () => {
    for (const first of ['agent', 'broker'] as const) {
      const tunnel = aTunnel();
      const second = first === 'agent' ? 'broker' : 'agent';

      await tunnel[first].send(Buffer.from('early'));
      await tunnel[first].end();
      const heard = await textOf(tunnel[second]);
      await tunnel[second].send(Buffer.from('late'));
      await tunnel[second].end();

      expect([heard, await textOf(tunnel[first])]).toEqual(['early', 'late']);
    }
  });

  test('says that it is open before there is any data', async () => {
    const { agent, broker } = aTunnel();

    agent.opened();

    expect(await broker.next()).toMatchObject({ data: new Uint8Array(), isLast: false });
  });

  test('has finished when the other side has ended its call, and not before', async () => {
    const { agent, broker, client } = aTunnel();
    await agent.end();
    await textOf(broker);
    const finished = broker.finished();
    const isFinished = settled(finished);

    await rounds();
    const before = isFinished();
    client.end();
    await finished;

    expect(before).toBe(false);
  });

  test('carries a failure with its kind, message and remedy, also after the last data', async () => {
    const fault = new Fault('missing', 'No such file.', { remedy: 'Look again.' });
    const early = aTunnel();
    const late = aTunnel();

    early.agent.fail(fault);
    await late.agent.end();
    late.agent.fail(fault);
    const whole = await textOf(late.broker);

    const seen = { kind: 'missing', message: 'No such file.', remedy: 'Look again.' };
    await expect(early.broker.next()).rejects.toMatchObject(seen);
    expect(whole).toBe('');
    await expect(late.broker.finished()).rejects.toMatchObject(seen);
  });

  test('takes a failure of an unknown kind for `unavailable`, and cuts long texts', async () => {
    for (const kind of ['nonsense', 'toString', '']) {
      const { broker, client } = aTunnel();

      client.write(encode(TunnelPieceSchema, { failure: { kind, message: `a\0${'b'.repeat(3_000)}` } }));

      const thrown = await broker.next().catch((fault) => fault);
      expect(thrown).toMatchObject({ kind: 'unavailable' });
      expect(thrown.message).toMatch(/^a\ufffdb+$/);
      expect(thrown.message).toHaveLength(2_000);
    }
  });

  test('that is cut off in the middle fails as `unavailable` for who reads, who waits for room and who sends later', async () => {
    const { broker, breakOff } = aTunnel();
    const waiting = broker.send(new Uint8Array(20 * 65_536));
    const reading = broker.next();
    const isOver = settled(Promise.race([waiting, reading]));
    await rounds();
    const before = isOver();

    breakOff();
    const outcomes = await Promise.allSettled([waiting, reading, broker.send(Buffer.from('y')), broker.finished()]);

    expect(before).toBe(false);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { kind: 'unavailable' } });
  });

  test('whose other side ends its call without a last message is cut off, not finished', async () => {
    const { broker, client } = aTunnel();

    client.end();

    await expect(broker.next()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('holds its sender back while the other side does not read', async () => {
    const { agent, broker } = aTunnel();
    const sent = agent.send(new Uint8Array(1024 * 1024));
    const isSent = settled(sent);

    await rounds();
    const before = isSent();
    for (let bytes = 0; bytes < 1024 * 1024; ) bytes += (await broker.next())?.data.length ?? 0;
    await sent;

    expect(before).toBe(false);
  });

  test('keeps the order of what is sent at once, and its end comes last', async () => {
    const { agent, broker } = aTunnel();
    const parts = ['a', 'b', 'c'].map((letter) => letter.repeat(300_000));

    const sent = parts.map((part) => agent.send(Buffer.from(part)));
    void agent.end();
    const text = await textOf(broker);

    await Promise.all(sent);
    expect(text === parts.join('')).toBe(true);
  });

  test('that its own side closes drops what waits, and sends nothing more', async () => {
    const { agent, client } = aTunnel();
    const waiting = agent.send(new Uint8Array(1024 * 1024));
    const ending = agent.end();
    await rounds();

    agent.close();
    agent.close();
    agent.fail(new Fault('missing', 'Too late.'));
    agent.opened();
    await ending;

    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(agent.send(Buffer.from('x'))).rejects.toMatchObject({ kind: 'unavailable' });
    expect(client.errored).toBeNull();
  });

  test('refuses a message that is no piece of a tunnel, and one after the last', async () => {
    const { broker, client } = aTunnel();
    const second = aTunnel();

    client.write(Buffer.from([0xff, 0xff, 0xff]));
    await second.agent.end();
    second.agent.opened();
    await second.broker.next();

    await expect(broker.next()).rejects.toMatchObject({ kind: 'invalid' });
    await expect(second.broker.finished()).rejects.toMatchObject({ kind: 'invalid' });
  });
});

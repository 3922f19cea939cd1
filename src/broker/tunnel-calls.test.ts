import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { AgentCommand } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import type { Tunnel } from '#core/tunnel.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { aCallInMemory } from '#wire/testing.ts';
import { openTunnelSide } from '#wire/tunnel-pieces.ts';
import { memoryTables } from '../store/view.ts';
import type { TwoWayMethod, TwoWayStream } from './method.ts';
import { aCaller } from './testing.ts';
import { MOST_OF_AGENT, tunnelCalls } from './tunnel-calls.ts';

const KEYS: Readonly<Record<string, string>> = { 'm-1': 'key1', 'm-2': 'key2' };
const TO = { agent: 'm-1', session: 's1', attempt: 2, to: { port: 8888 } };

function aBroker() {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const tables = memoryTables();
  const connected = new Set(Object.keys(KEYS));
  const sent: AgentCommand[] = [];
  for (const id of connected) tables.agents.set(id, { id, opensTunnels: true, version: '1', wire: 'muster' } as never);
  const agents = {
    get: (name: string) => (connected.has(name) ? ({ key: KEYS[name] } as never) : undefined),
    send(name: string, command: AgentCommand) {
      if (connected.has(name)) sent.push(command);
      return connected.has(name);
    },
  };
  const { open, methods } = tunnelCalls({ agents, view: tables, clock }, stopping.signal);
  const method = methods['/velda.MusterTunnelService/Tunnel'] as TwoWayMethod;
  const idAt = (nth: number): string => (sent.filter((one) => one.do === 'open tunnel')[nth] as { id: string }).id;

  /** As gRPC does it: the caller is admitted before its call is served. */
  async function admitted(id: string, agent = 'm-1', key = KEYS[agent]) {
    const headers = { 'x-muster-agent': agent, 'x-muster-agent-key': key ?? '', 'x-muster-tunnel': id };
    const serve = await method.admit(aCaller('10.0.0.1', headers));
    return () => {
      const call = aCallInMemory();
      serve(call.server as unknown as TwoWayStream);
      return { ...call, side: openTunnelSide(call.client) };
    };
  }
  const called = async (...caller: Parameters<typeof admitted>) => (await admitted(...caller))();

  /** A tunnel that the agent has opened. */
  async function opened() {
    const opening = open(TO, going());
    const agent = await called(idAt(sent.filter((one) => one.do === 'open tunnel').length - 1));
    agent.side.opened();
    return { tunnel: await opening, agent };
  }
  return { clock, stopping, tables, connected, sent, open, idAt, admitted, called, opened };
}

const textOf = async ({ received }: Tunnel): Promise<string> => {
  let text = '';
  for await (const data of received) text += Buffer.from(data).toString();
  return text;
};

const kindOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'taken',
    (thrown) => Fault.from(thrown).kind,
  );

describe('a tunnel to an agent', () => {
  test('is a call that the agent opens with the id that it was sent, and carries bytes both ways', async () => {
    const broker = aBroker();
    const { tunnel, agent } = await broker.opened();

    await agent.side.send(Buffer.from('from the worker'));
    await agent.side.end();
    await tunnel.send(Buffer.from('to the worker'));
    tunnel.end();
    const [heard] = await Promise.all([textOf(tunnel), agent.side.next()]);
    agent.client.end();
    await tunnel.finished();

    expect(heard).toBe('from the worker');
    expect(broker.sent).toEqual([
      { do: 'open tunnel', session: 's1', attempt: 2, id: broker.idAt(0), to: { port: 8888 } },
    ]);
    expect(broker.idAt(0)).toMatch(/^[\w-]{22}$/);
  });

  test('is not opened by another agent, without the key of the agent, or with an id that was not sent', async () => {
    const broker = aBroker();
    const opening = broker.open(TO, going());
    const id = broker.idAt(0);

    expect(await kindOf(broker.admitted(id, 'm-2'))).toBe('missing');
    expect(await kindOf(broker.admitted(id, 'm-1', 'key2'))).toBe('unavailable');
    expect(await kindOf(broker.admitted(id, 'm-3', ''))).toBe('unavailable');
    for (const wrong of ['', 'x', `${id}x`, 'constructor'])
      expect(await kindOf(broker.admitted(wrong))).toBe('missing');
    const agent = await broker.called(id);
    agent.side.opened();
    await opening;
  });

  test('is opened once: its id is of no use a second time, neither before it is open nor after', async () => {
    const broker = aBroker();
    const opening = broker.open(TO, going());
    const agent = await broker.called(broker.idAt(0));
    const again = (): Promise<string> => kindOf(broker.admitted(broker.idAt(0)));

    const early = await again();
    agent.side.opened();
    const tunnel = await opening;
    const open = await again();
    tunnel.close();

    expect([early, open, await again()]).toEqual(['missing', 'missing', 'missing']);
  });

  test('that the agent never opens ends with what is wrong, tells the agent, and is no longer awaited', async () => {
    const broker = aBroker();
    const opening = broker.open(TO, going()).catch((thrown) => thrown);
    const id = broker.idAt(0);

    await broker.clock.advance(20_000);

    expect(await opening).toMatchObject({
      kind: 'unavailable',
      message: 'The agent of worker m-1 did not answer within 20 s.',
    });
    expect(broker.sent.at(-1)).toEqual({ do: 'close tunnel', session: 's1', id });
    expect(await kindOf(broker.admitted(id))).toBe('missing');
    expect(broker.clock.nextAlarmMs()).toBeUndefined();
  });

  test('whose agent calls and then says nothing is given up too, and its call is ended', async () => {
    const broker = aBroker();
    const opening = broker.open(TO, going()).catch((thrown) => thrown);
    const agent = await broker.called(broker.idAt(0));

    await broker.clock.advance(20_000);

    expect(await opening).toMatchObject({ kind: 'unavailable' });
    expect(agent.server.writableEnded).toBe(true);
  });

  test('whose caller leaves while the agent is admitted ends the call of the agent', async () => {
    const broker = aBroker();
    const gone = new AbortController();
    const opening = broker.open(TO, gone.signal).catch((thrown) => thrown);
    const call = await broker.admitted(broker.idAt(0));

    gone.abort();
    const agent = call();

    expect(await opening).toMatchObject({ message: 'The caller is gone.' });
    expect(agent.server.writableEnded).toBe(true);
  });

  test('is not asked for where the caller has left or the server stops before', async () => {
    const broker = aBroker();

    const left = await broker.open(TO, AbortSignal.abort()).catch((thrown) => thrown);
    broker.stopping.abort();
    const stopped = await broker.open(TO, going()).catch((thrown) => thrown);

    expect([left.message, stopped.message]).toEqual(['The caller is gone.', 'The server is stopping.']);
    expect(broker.sent.filter((one) => one.do === 'open tunnel')).toEqual([]);
  });

  test('is refused at once where the agent is disconnected, or of a version that opens none', async () => {
    const broker = aBroker();
    broker.tables.agents.set('m-2', { id: 'm-2', version: '0.1.0', wire: 'muster' } as never);
    broker.connected.delete('m-1');

    await expect(broker.open(TO, going())).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'The agent of worker m-1 is disconnected.',
    });
    await expect(broker.open({ ...TO, agent: 'm-3' }, going())).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(broker.open({ ...TO, agent: 'm-2' }, going())).rejects.toMatchObject({
      kind: 'unsupported',
      message: 'The agent of worker m-2 (0.1.0) cannot copy files or forward ports.',
    });
    expect(broker.clock.nextAlarmMs()).toBeUndefined();
  });

  test('that the agent refuses ends with its fault', async () => {
    const broker = aBroker();
    const opening = broker.open(TO, going());
    const agent = await broker.called(broker.idAt(0));

    agent.side.fail(new Fault('missing', 'No such file.', { remedy: 'Look again.' }));

    await expect(opening).rejects.toMatchObject({ kind: 'missing', message: 'No such file.', remedy: 'Look again.' });
    expect(agent.server.writableEnded).toBe(true);
  });

  test('is cut where the connection of the agent is lost, and does not look complete', async () => {
    const broker = aBroker();
    const { tunnel, agent } = await broker.opened();
    await agent.side.send(Buffer.from('half'));

    agent.breakOff();

    await expect(textOf(tunnel)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(tunnel.send(Buffer.from('x'))).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('closes with the server, and tells the agent once', async () => {
    const broker = aBroker();
    const { tunnel, agent } = await broker.opened();

    broker.stopping.abort();
    const isEnded = agent.server.writableEnded;
    tunnel.close();

    expect(isEnded).toBe(true);
    expect(broker.sent.filter((one) => one.do === 'close tunnel')).toHaveLength(1);
  });
});

test('an agent has a bounded number of tunnels; closed, refused and given up ones make room, and other agents have their own', async () => {
  const broker = aBroker();
  const { tunnel } = await broker.opened();
  const waiting = Array.from({ length: MOST_OF_AGENT - 1 }, () => kindOf(broker.open(TO, going())));

  await expect(broker.open(TO, going())).rejects.toMatchObject({
    kind: 'throttled',
    message: `Worker m-1 has ${MOST_OF_AGENT} copies and forwarded connections open.`,
  });
  const other = kindOf(broker.open({ ...TO, agent: 'm-2' }, going()));
  tunnel.close();
  tunnel.close();
  const another = kindOf(broker.open(TO, going()));
  expect(await kindOf(broker.open(TO, going()))).toBe('throttled');
  await broker.clock.advance(20_000);

  expect(new Set(await Promise.all([...waiting, other, another]))).toEqual(new Set(['unavailable']));
  const { agent } = await broker.opened();
  const closed = once(agent.server, 'close');
  agent.breakOff();
  await closed;
  const all = Array.from({ length: MOST_OF_AGENT }, () => kindOf(broker.open(TO, AbortSignal.abort())));
  expect(new Set(await Promise.all(all))).toEqual(new Set(['unavailable']));
});

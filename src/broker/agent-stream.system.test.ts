import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { untilHolds } from '#core/testing/until.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { ListPoolsRequestSchema, ListPoolsResponseSchema } from '#wire/gen/velda/pool_pb.ts';
import {
  aSession,
  ask,
  clientTo,
  type FakeAgent,
  type FakePlane,
  type FakePlaneOptions,
  openFakeAgent,
  openFakePlane,
} from './testing.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function aPlane(options: FakePlaneOptions = {}): Promise<FakePlane> {
  const plane = await openFakePlane(options);
  open.push(plane);
  return plane;
}

function anAgent(plane: FakePlane, headers: Record<string, string> = {}): FakeAgent {
  const agent = openFakeAgent(clientTo(plane), headers);
  open.push(agent);
  return agent;
}

const LIST_POOLS = {
  path: '/velda.PoolManagerService/ListPools',
  request: ListPoolsRequestSchema,
  answer: ListPoolsResponseSchema,
};

const identity = (agentId: string) => ({ agentId, hostname: 'host', pool: 'local', ipAddress: '10.1.2.3' });
const hello = (agentId: string) => ({
  agentIdentity: identity(agentId),
  slots: 2,
  musterHello: { version: '1.2.3', labels: { zone: 'a' }, executions: [{ session: 's1', attempt: 2 }] },
});

test('an agent joins with identity, proof and executions, and gets lease and cluster first', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane, { authorization: 'Bearer tok', 'x-muster-agent-key': 'abc' });

  agent.say(hello('a1'));
  await untilHolds(() => expect(agent.answers).toHaveLength(1));

  expect(plane.hellos[0]).toEqual({
    hello: {
      name: 'a1',
      pool: 'local',
      slots: 2,
      labels: { zone: 'a' },
      wire: 'muster',
      version: '1.2.3',
      hostname: 'host',
      address: '10.1.2.3',
      executions: [{ session: 's1', attempt: 2 }],
    },
    proof: { peerAddress: '127.0.0.1', token: 'tok', key: 'abc', certificateName: undefined },
  });
  expect(agent.answers[0]).toMatchObject({
    serverInfo: { version: '0.0.0-test' },
    musterServer: { cluster: 'cluster1', leaseMs: 1_800_000n },
  });
  expect(plane.joined).toEqual([{ name: 'a1', executions: [{ session: 's1', attempt: 2 }] }]);
  expect(plane.broker.connectedAgents).toBe(1);
});

test('reports come in order, those of the first message after the joining', async () => {
  let letIn = (): void => {};
  const plane = await aPlane({ door: () => new Promise<void>((resolve) => (letIn = resolve)) });
  const agent = anAgent(plane);
  const report = (session: string) => ({ session, attempt: 1, what: { case: 'started' as const, value: {} } });

  agent.say({ ...hello('a1'), reports: [report('s1')] });
  agent.say({ reports: [report('s2'), report('s3')] });
  await untilHolds(() => expect(plane.hellos).toHaveLength(1));
  expect(plane.reports).toEqual([]);
  letIn();
  await untilHolds(() => expect(plane.reports).toHaveLength(3));

  expect(plane.reports.map(({ agent: name, report: said }) => `${name} ${said.session}`)).toEqual([
    'a1 s1',
    'a1 s2',
    'a1 s3',
  ]);
});

test('commands of one turn travel in one message', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane);
  agent.say(hello('a1'));
  await untilHolds(() => expect(agent.answers).toHaveLength(1));

  for (let seq = 1; seq <= 100; seq++)
    plane.link.send('a1', { do: 'ack', session: 's1', attempt: 1, seq, result: false });
  await untilHolds(() => expect(agent.answers).toHaveLength(2));

  expect(agent.answers[1]?.commands.map((command) => command.what.case)).toEqual(Array(100).fill('ack'));
  expect(plane.link.send('nobody', { do: 'drain', stop: false })).toBe(false);
});

test('a refusal ends the stream with the status and the words of the fault', async () => {
  const plane = await aPlane({
    door: () => {
      throw new Fault('denied', 'This token is for another pool.', { remedy: 'Take the right one.' });
    },
  });
  const agent = anAgent(plane);

  agent.say(hello('a1'));

  expect(await agent.ended).toMatchObject({ code: 7, details: 'This token is for another pool. Take the right one.' });
  expect(plane.broker.connectedAgents).toBe(0);
  expect(plane.left).toEqual([]);
});

test('of our own bugs an agent learns nothing but that there is one', async () => {
  const plane = await aPlane({ door: () => Promise.reject(new TypeError('secret of the house')) });
  const agent = anAgent(plane);

  agent.say(hello('a1'));

  const { code, details } = await agent.ended;
  expect(code).toBe(13);
  expect(details).not.toContain('secret');
});

test('a newer connection wins, and the end of the older one counts only for its own epoch', async () => {
  const plane = await aPlane();
  const older = anAgent(plane);
  older.say(hello('a1'));
  await untilHolds(() => expect(older.answers).toHaveLength(1));

  const newer = anAgent(plane);
  newer.say(hello('a1'));

  expect(await older.ended).toMatchObject({ code: 10 });
  await untilHolds(() => expect(plane.left).toEqual([{ name: 'a1', epoch: 1 }]));
  expect(plane.broker.connectedAgents).toBe(1);
  expect(plane.link.send('a1', { do: 'drain', stop: false })).toBe(true);
  await untilHolds(() => expect(newer.answers.at(-1)?.commands).toHaveLength(1));
});

test('where two connections join at once the newer epoch stays, whichever is through first', async () => {
  const through: (() => void)[] = [];
  const plane = await aPlane();
  const slow = await aPlane({
    machines: {
      join: (said) =>
        new Promise((resolve) => {
          const epoch = through.length + 1;
          through.push(() => resolve({ id: said.name, epoch } as never));
        }),
      leave: (name, epoch) => void plane.left.push({ name, epoch }),
    },
  });
  const first = anAgent(slow);
  first.say(hello('a1'));
  await untilHolds(() => expect(through).toHaveLength(1));
  const second = anAgent(slow);
  second.say(hello('a1'));
  await untilHolds(() => expect(through).toHaveLength(2));

  through[1]?.();
  await untilHolds(() => expect(second.answers).toHaveLength(1));
  through[0]?.();

  expect(await first.ended).toMatchObject({ code: 10 });
  expect(plane.left).toEqual([{ name: 'a1', epoch: 1 }]);
  expect(slow.broker.connectedAgents).toBe(1);
});

test('an agent that is gone before it is let in leaves at once', async () => {
  let letIn = (): void => {};
  const plane = await aPlane({ door: () => new Promise<void>((resolve) => (letIn = resolve)) });
  const client = clientTo(plane);
  const agent = openFakeAgent(client);
  open.push(agent);
  agent.say(hello('a1'));
  await untilHolds(() => expect(plane.hellos).toHaveLength(1));

  agent.call.cancel();
  // Whatever is answered on the same connection is answered after the cancellation was heard.
  await ask(client, LIST_POOLS, {});
  letIn();
  await untilHolds(() => expect(plane.left).toEqual([{ name: 'a1', epoch: 1 }]));

  expect(plane.broker.connectedAgents).toBe(0);
  expect(plane.joined).toEqual([]);
});

test('a half-close is answered with OK, and a lost connection is an end too', async () => {
  const plane = await aPlane();
  const polite = anAgent(plane);
  polite.say(hello('a1'));
  await untilHolds(() => expect(polite.answers).toHaveLength(1));
  const lost = anAgent(plane);
  lost.say(hello('a2'));
  await untilHolds(() => expect(lost.answers).toHaveLength(1));

  polite.call.end();
  expect(await polite.ended).toMatchObject({ code: 0 });
  lost.call.cancel();

  await untilHolds(() => expect(plane.left).toHaveLength(2));
  expect(plane.broker.connectedAgents).toBe(0);
});

test('a dismissed agent gets the reason, and cannot be sent to any more', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane);
  agent.say(hello('a1'));
  await untilHolds(() => expect(agent.answers).toHaveLength(1));

  plane.link.dismiss('a1', 'Its worker was removed.');

  expect(plane.link.send('a1', { do: 'drain', stop: false })).toBe(false);
  expect(await agent.ended).toMatchObject({ code: 7, details: expect.stringContaining('Its worker was removed.') });
  await untilHolds(() => expect(plane.left).toEqual([{ name: 'a1', epoch: 1 }]));
});

test('streams end with OK when the broker stops', async () => {
  const plane = await openFakePlane();
  const agent = anAgent(plane);
  agent.say(hello('a1'));
  await untilHolds(() => expect(agent.answers).toHaveLength(1));

  await plane.close();

  expect(await agent.ended).toMatchObject({ code: 0 });
});

test('who says nothing for ten seconds is sent away', async () => {
  const clock = new VirtualClock();
  const plane = await aPlane({ clock });
  const agent = anAgent(plane);
  await untilHolds(() => expect(clock.nextAlarmMs()).toBe(10_000));

  await clock.advance(9_999);
  expect(clock.nextAlarmMs()).toBe(1);
  await clock.advance(1);

  expect(await agent.ended).toMatchObject({ code: 3, details: expect.stringContaining('10 s') });
});

test('a first message without identity is refused', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane);

  agent.say({ slots: 3 });

  expect(await agent.ended).toMatchObject({ code: 3, details: expect.stringContaining('agent_identity') });
});

test('an agent that does not read is dismissed, and its connection dropped when even that does not reach it', async () => {
  const clock = new VirtualClock();
  const plane = await aPlane({ clock });
  const agent = anAgent(plane);
  agent.say(hello('a1'));
  await untilHolds(() => expect(agent.answers).toHaveLength(1));
  agent.call.pause();
  const data = new Uint8Array(256 * 1024);
  const send = (): unknown => plane.link.send('a1', { do: 'input', session: 's1', data, isLast: false });

  send();
  await clock.settle();
  for (let count = 0; count < 63; count++) send();
  await clock.settle();
  expect(clock.nextAlarmMs()).toBeUndefined();
  send();
  send();
  await clock.settle();
  expect(clock.nextAlarmMs()).toBe(5_000);
  expect(plane.left).toEqual([]);
  await clock.advance(5_000);

  await untilHolds(() => expect(plane.left).toEqual([{ name: 'a1', epoch: 1 }]));
  expect(plane.broker.connectedAgents).toBe(0);
});

test('bytes that are no HTTP/2 do no harm', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane);
  agent.say(hello('a1'));
  await untilHolds(() => expect(agent.answers).toHaveLength(1));

  for (const noise of [
    'GET / HTTP/1.1\r\n\r\n',
    '\x16\x03\x01\x02',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxxxxxxxxxxxxxxxxxx',
  ]) {
    const socket = connect(plane.port, '127.0.0.1');
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end(noise);
    socket.resume();
    await closed;
  }

  plane.link.send('a1', { do: 'drain', stop: false });
  await untilHolds(() => expect(agent.answers).toHaveLength(2));
});

test('an agent that does not say that it can run sessions as another user gets none', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane);
  const { musterHello, ...rest } = hello('a1');
  agent.say({ ...rest, musterHello: { ...musterHello, capabilities: ['other'] } });
  await untilHolds(() => expect(agent.answers).toHaveLength(1));

  const { spec } = aSession('s2');
  plane.link.send('a1', { do: 'start', session: 's2', attempt: 1, spec: { ...spec, runAs: { user: 'ada' } } });
  plane.link.send('a1', { do: 'start', session: 's3', attempt: 1, spec });
  await untilHolds(() => expect(agent.answers).toHaveLength(2));

  expect(agent.answers[1]?.commands.map(({ session }) => session)).toEqual(['s3']);
  expect(plane.reports).toMatchObject([{ agent: 'a1', report: { is: 'refused', session: 's2' } }]);
});

test('a refused agent is logged by the name and pool that it gave', async () => {
  const logged: unknown[] = [];
  const plane = await aPlane({
    log: (_level, message, fields) => void logged.push({ message, ...fields }),
    door() {
      throw new Fault('denied', 'This token is for another pool.');
    },
  });
  const agent = anAgent(plane);

  agent.say(hello('a1'));
  await agent.ended;

  expect(logged).toMatchObject([{ message: 'agent refused', agent: 'a1', pool: 'local', from: '127.0.0.1' }]);
});

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { AgentUpdateRequestSchema } from '#wire/gen/velda/broker_pb.ts';
import { readHello } from './hello.ts';

type Message = MessageInitShape<typeof AgentUpdateRequestSchema>;
const agentIdentity = { agentId: 'a1', pool: 'local', hostname: 'h', ipAddress: '10.0.0.7' };
const read = (message: Message) =>
  readHello(create(AgentUpdateRequestSchema, { agentIdentity, ...message } as Message), '192.0.2.1', (session) =>
    session === 'known' ? 5 : undefined,
  );

test.each([
  [{ slots: 4 }, 4],
  [{ slots: 0 }, 1],
  [{ slots: -3 }, 1],
  [{ slots: 4, musterHello: { draining: true } }, 0],
])('slots are at least one, and none for an agent that takes nothing new: %#', (message, slots) => {
  expect(read(message).slots).toBe(slots);
});

test.each([
  ['10.0.0.7', '10.0.0.7'],
  ['fd00::1', 'fd00::1'],
  ['', '192.0.2.1'],
  ['not an address', '192.0.2.1'],
])('the address "%s" is taken as %s', (ipAddress, address) => {
  expect(read({ agentIdentity: { ...agentIdentity, ipAddress } }).address).toBe(address);
});

test.each([
  [['tunnels', 'end_at'], true],
  [['tunnels'], undefined],
])('whether the server can move the end of an agent is what the agent says of itself: %j', (capabilities, movesEnd) => {
  expect(read({ musterHello: { capabilities } }).movesEnd).toBe(movesEnd);
  expect(read({}).movesEnd).toBeUndefined();
});

test('the attempt of a Velda execution is what the agent sends back, then what we know', () => {
  const currentExecutions = [
    { request: { sessionId: 's1', tags: { 'muster-attempt': '3' } } },
    { request: { sessionId: 'known', tags: { 'muster-attempt': 'x' } } },
    { request: { sessionId: 's3' } },
    {},
  ];

  expect(read({ currentExecutions }).executions).toEqual([
    { session: 's1', attempt: 3 },
    { session: 'known', attempt: 5 },
    { session: 's3', attempt: 1 },
  ]);
});

test.each<[string, Message, string]>([
  ['no name', { agentIdentity: { ...agentIdentity, agentId: '' } }, 'agent_identity.agent_id'],
  ['no pool', { agentIdentity: { ...agentIdentity, pool: '' } }, 'agent_identity.pool'],
  ['a name with a line break', { agentIdentity: { ...agentIdentity, agentId: 'a\nb' } }, 'agent_identity.agent_id'],
  ['a name without end', { agentIdentity: { ...agentIdentity, agentId: 'a'.repeat(300) } }, 'agent_identity.agent_id'],
  ['too many slots', { slots: 2_000_000_000 }, 'slots'],
  ['an execution without an attempt', { musterHello: { executions: [{ session: 's1' }] } }, 'executions.attempt'],
  ['a label with a NUL', { musterHello: { labels: { zone: 'a\0' } } }, 'The label zone'],
])('%s is refused, with the place', (_, message, at) => {
  expect(() => read(message)).toThrow(expect.objectContaining({ kind: 'invalid', at }));
});

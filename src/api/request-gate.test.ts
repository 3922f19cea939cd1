import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Caller, Credentials } from '../access/access.ts';
import type { ApiDeps } from './deps.ts';
import { openRequestGate, visitorOf } from './request-gate.ts';

/** A gate of two tokens; `looked` are the headers that were checked, `revoked` those that no longer hold. */
function aGate() {
  const looked: (string | undefined)[] = [];
  const revoked = new Set<string>();
  const access = {
    authenticate({ authorization, from }: Credentials): Caller {
      looked.push(authorization);
      const token = authorization?.slice('Bearer '.length) ?? '';
      if (!['ada', 'bob'].includes(token) || revoked.has(token)) throw new Fault('unauthenticated', 'Unknown.');
      return { who: token, from, role: token === 'ada' ? 'admin' : 'viewer', token, by: 'header' };
    },
    stillHolds: ({ token }: Caller) => !revoked.has(token),
  } as unknown as ApiDeps['access'];
  const server = { hosts: () => [] } as unknown as ApiDeps['server'];
  const connections = { addressOf: () => '', isProxy: () => false, authenticated() {} };
  const gate = openRequestGate({ access, log: silentLog, server, connections });
  const enter = (connection: object, token?: string): string => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return gate.enter({ connection, method: 'GET', headers, from: '::1' }, 'viewer').who;
  };
  return { enter, looked, revoked, tokenOf: gate.tokenOf };
}

test('a connection that shows the same token again is not looked up again; another one is', () => {
  const { enter, looked } = aGate();
  const [one, other] = [{}, {}];

  expect([enter(one, 'ada'), enter(one, 'ada'), enter(other, 'ada'), enter(one, 'bob')]).toEqual([
    'ada',
    'ada',
    'ada',
    'bob',
  ]);
  expect(looked).toEqual(['Bearer ada', 'Bearer ada', 'Bearer bob']);
});

test('a token that was revoked, or is not shown, does not go on because the connection had it before', () => {
  const { enter, revoked } = aGate();
  const connection = {};
  enter(connection, 'ada');

  expect(() => enter(connection)).toThrow(Fault);
  expect(() => enter(connection, 'eve')).toThrow(Fault);
  revoked.add('ada');
  expect(() => enter(connection, 'ada')).toThrow(Fault);
});

test('a connection is known by the valid token that it has shown last', () => {
  const { enter, tokenOf } = aGate();
  const [one, other] = [{}, {}];
  enter(one, 'ada');
  enter(one, 'bob');
  expect(() => enter(other, 'eve')).toThrow(Fault);

  expect([tokenOf(one), tokenOf(other)]).toEqual(['bob', undefined]);
});

test.each([
  ['10.9.0.1', '203.0.113.7', '203.0.113.7'],
  ['10.9.0.1', '198.51.100.1, 203.0.113.7, 10.9.0.2', '203.0.113.7'],
  ['10.9.0.1', 'nonsense', '10.9.0.1'],
  ['10.9.0.1', undefined, '10.9.0.1'],
  ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
])('a client at %s with X-Forwarded-For %s counts as %s', (peer, forwarded, from) => {
  const connections = {
    addressOf: () => peer,
    isProxy: (address: string) => address.startsWith('10.9.'),
    authenticated() {},
  };
  const request = { socket: {}, method: 'GET', headers: { 'x-forwarded-for': forwarded } };

  expect(visitorOf(request as unknown as IncomingMessage, connections).from).toBe(from);
});

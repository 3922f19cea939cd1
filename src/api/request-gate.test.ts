import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Caller, Credentials } from '../access/access.ts';
import type { ApiDeps } from './deps.ts';
import { openRequestGate } from './request-gate.ts';

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
  const gate = openRequestGate({ access, log: silentLog, server: { hosts: () => [] } as unknown as ApiDeps['server'] });
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

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Pool } from '#core/pool.ts';
import { makeRedactor } from '#journal/redact.ts';
import { GetPoolRequestSchema, GetPoolResponseSchema } from '#wire/gen/velda/pool_pb.ts';
import { createAgentLink } from '../broker/broker.ts';
import { ask, clientTo } from '../broker/testing.ts';
import { openConnections } from '../edge/open-connections.ts';
import { memoryTables } from '../store/view.ts';
import { openBroker } from './listeners.ts';

const GET_POOL = {
  path: '/velda.PoolManagerService/GetPool',
  request: GetPoolRequestSchema,
  answer: GetPoolResponseSchema,
};

/** The broker of a server whose only pool cannot get its last machine. */
async function openTroubled(message: string) {
  const view = memoryTables();
  view.pools.set('p1', { id: 'p1', name: 'gpu', spec: { offers: [] }, owner: { source: 'api' } } as unknown as Pool);
  const server = {
    connections: openConnections({ mostOfAddress: 9, trustedProxies: [], clock: systemClock, log: silentLog }),
    store: { view, durable: async () => {}, cluster: 'c1' },
    link: createAgentLink(),
    clock: systemClock,
    log: silentLog,
    version: '0.0.0-test',
    loaded: { config: { agent: { leaseMs: 60_000 }, limits: { streamsPerConnection: 10 } } },
    redactor: makeRedactor(['planted-secret']),
  };
  const access = { authenticate: () => ({ who: 'token:ci', from: 'here', role: 'viewer' }) };
  const workers = { launchFault: () => ({ message, at: 5_000 }) };
  const broker = openBroker(server as never, { access, workers } as never, { workers, sessions: {} } as never);
  const listener = createServer({ pauseOnConnect: true }, (socket) => broker.listener()(socket)).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = clientTo(listener.address() as AddressInfo);
  onTestFinished(async () => {
    client.close();
    listener.close();
    await broker.stop();
  });
  return client;
}

it('a failed launch is reported by gRPC without the secrets that the cloud quotes', async () => {
  const client = await openTroubled('The key planted-secret is not known.');

  const { pool } = await ask(client, GET_POOL, { pool: 'gpu' });

  expect(pool?.autoscalerStatus?.lastAllocationError).toBe('The key [hidden] is not known.');
});

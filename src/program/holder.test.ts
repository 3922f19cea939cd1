import { expect, it } from 'vitest';
import { silentLog } from '#core/log.ts';
import { packForOthers, warnOfLocalPools } from './holder.ts';

it.each([
  ['0.0.0.0', 1],
  ['127.0.0.1', 0],
])('a server on %s packs the agent %i times before anyone asks for it', (host, times) => {
  let packed = 0;
  const address = { host, port: 1 };
  const offer = async (): Promise<void> => void packed++;

  const installer = { offer, offered: () => [] };
  packForOthers({ front: { addresses: { http: address, grpc: address } }, installer, log: silentLog } as never);

  expect(packed).toBe(times);
});

it.each([
  ['0.0.0.0', [['local']]],
  ['127.0.0.1', []],
])('a server on %s says whose files the sessions of its own machine can read', (host, warned) => {
  const said: unknown[] = [];
  const pool = (name: string, kind: string, config = {}) => ({ spec: { name, offers: [{ kind, config }] } });
  const runsAsOther = ({ user }: { user?: string }) => user !== undefined;
  const address = { host, port: 1 };

  warnOfLocalPools({
    front: { addresses: { http: address, grpc: address } },
    kinds: { backends: { process: { isLocal: true, runsAsOther }, cloud: {} } },
    loaded: {
      config: { pools: [pool('local', 'process'), pool('apart', 'process', { user: 'ada' }), pool('far', 'cloud')] },
    },
    log: (_level: string, _message: string, fields: { pools: unknown }) => said.push(fields.pools),
  } as never);

  expect(said).toEqual(warned);
});

import { ServerStatus } from '../../api/wire/server.ts';
import { TokenList } from '../../api/wire/token.ts';
import { NOW } from './now.ts';

const at = NOW;

export const serverAnswers: Readonly<Record<string, unknown>> = {
  '/tokens': TokenList.parse({
    items: [{ id: 't1', name: 'ci', role: 'operator', created_at: at, created_by: 'token:ada', expired: false }],
  }),
  '/server': ServerStatus.parse({
    version: '1.0.0',
    pid: 7,
    cluster: 'c',
    epoch: 3,
    store: 'sqlite',
    address: 'http://127.0.0.1:8080',
    addresses: { http: 'http://127.0.0.1:8080' },
    ca_fingerprint: 'sha256:ab',
    started_at: at,
    uptime: '1h',
    ready: true,
    counts: {
      pools: 1,
      workers: { launching: 1, booting: 0, idle: 1, busy: 2, draining: 0, lost: 0, parked: 0, deleting: 0 },
      agents: 1,
      sessions: {},
      sources: 1,
    },
  }),
};

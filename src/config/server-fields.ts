// The keys of the server's file that no kind has a part in.

import { z } from 'zod';
import { DEFAULT_AGENT_LEASE_MS, DEFAULT_DATA_DIR } from '#core/defaults.ts';
import { formatDuration } from '#core/duration.ts';
import { DEFAULT_FILE_LIMITS } from '#core/file.ts';
import { cidr, duration, oneOrMore, secret, unused } from '#core/schema.ts';
import { HISTORIES, type HistoryName } from '#core/store.ts';
import type { HistoryRules } from '#core/table.ts';

/** Where to listen; without a host on every interface. */
export interface Listen {
  readonly host: string | undefined;
  readonly port: number;
}

const ADDRESS = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]/]*)):(\d{1,5})$/i;

/** `host:port`, or `:port` for every interface. */
function listenAddress() {
  return z
    .string()
    .transform((text, context): Listen => {
      const [, ipv6, name, port = ''] = ADDRESS.exec(text) ?? [];
      const host = ipv6 ?? name;
      if (host !== undefined && Number(port) <= 65_535) return { host: host || undefined, port: Number(port) };
      context.addIssue({
        code: 'custom',
        message: 'must be host:port, like 127.0.0.1:8081, or :8081 for every interface',
      });
      return z.NEVER;
    })
    .meta({ examples: ['127.0.0.1:8081', ':8081'] });
}

export type StoreConfig =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'postgres'; readonly url: string };

function storePlace() {
  return secret().transform((text, context): StoreConfig => {
    if (/^postgres(ql)?:\/\//i.test(text)) return { kind: 'postgres', url: text };
    // As `muster restore` takes it, so that both mean the same place.
    const directory = text.replace(/^sqlite:(\/\/)?/i, '');
    if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(directory) && directory !== '') return { kind: 'sqlite', directory };
    context.addIssue({ code: 'custom', message: 'must be a directory, or an address that begins with postgres://' });
    return z.NEVER;
  });
}

const positive = () => z.int().positive();

const limits = z.object({
  unauthenticatedConnections: positive()
    .default(256)
    .describe('Connections of one address whose client has not authenticated yet; further ones are closed.'),
  requestsPerToken: positive()
    .default(1_000)
    .describe(
      'Requests of one token that are being answered; further ones get 429. Requests that wait or follow are counted apart, with the same limit.',
    ),
  streamsPerConnection: positive().default(1_000).describe('gRPC calls that are open on one connection.'),
  trustedProxies: z
    .array(cidr())
    .default([])
    .describe(
      'Networks of proxies and load balancers, as CIDR: their connections are not limited by address, and their `X-Forwarded-For` names the client.',
    ),
});

export type ConnectionLimits = z.output<typeof limits>;

const server = z.object({
  grpcAddress: listenAddress().prefault('127.0.0.1:50051').describe('Address of the broker, which agents join.'),
  httpAddress: listenAddress().prefault('127.0.0.1:8081').describe('Address of the API.'),
  peerAddress: listenAddress()
    .optional()
    .describe('With PostgreSQL: address to which other replicas forward connections while this one is the holder.')
    .meta({ defaultText: 'the port after that of `http_address`' }),
  limits: limits.prefault({}).describe('What one client may hold open.'),
  certSpiffeId: unused('`agent_auth` of each pool decides how agents authenticate').describe(
    'Setting of Velda without effect here.',
  ),
});

const tls = z
  .object({
    cert: z.string().optional().describe('File of the server certificate, with its chain, as PEM.'),
    key: z.string().optional().describe('File of its private key, as PEM.'),
    ca: z.string().optional().describe('File of the CA that signed it, as PEM; agents trust it.'),
    plaintextGrpc: z
      .boolean()
      .default(false)
      .describe(
        'Whether the broker also serves agents without TLS, as those of Velda join. Their tokens then cross the network readable.',
      ),
  })
  .refine(({ cert, key }) => (cert === undefined) === (key === undefined), 'needs both cert and key');

/** One setting for each history. */
export function retentionFields(histories: HistoryRules) {
  const fields = Object.values(histories).map(({ kept }) => {
    return [kept.setting, duration().prefault(kept.default).describe(kept.about)] as const;
  });
  return z.object(Object.fromEntries(fields));
}

const retention = retentionFields(HISTORIES);

/** The settings by the names of the histories. */
export function retentionOf(settings: z.output<typeof retention>): Readonly<Record<HistoryName, number>> {
  const spans = Object.entries(HISTORIES).map(([name, { kept }]) => [name, settings[kept.setting]]);
  return Object.fromEntries(spans) as Record<HistoryName, number>;
}

const log = z.object({
  level: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('Lowest level that is logged.'),
  format: z.enum(['auto', 'text', 'json']).default('auto').describe('`auto` is text on a terminal and JSON elsewhere.'),
});

const files = z.object({
  totalBytes: positive()
    .default(DEFAULT_FILE_LIMITS.totalBytes)
    .describe(
      'Bytes of all files that the server keeps. Beyond that it deletes those that were not used for the longest time, never those of sessions that have not ended.',
    ),
  sessionBytes: positive()
    .default(DEFAULT_FILE_LIMITS.sessionBytes)
    .describe('Bytes of the files of one session, and of one file.'),
  sessionFiles: positive().default(DEFAULT_FILE_LIMITS.sessionFiles).describe('Number of files of one session.'),
});

const access = z.object({
  publicUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of the API for people and agents outside.'),
  allowedHosts: z.array(z.string().min(1)).default([]).describe('More host names under which the API answers.'),
});

const agent = z.object({
  lease: duration(1_000)
    .prefault(formatDuration(DEFAULT_AGENT_LEASE_MS))
    .describe('An agent without contact to the server for this long finishes its sessions and stops.'),
  reconnectGrace: duration()
    .prefault('2m')
    .describe('After a server start, agents that had joined count as connected for this long.'),
  runtimes: z
    .record(z.string().regex(/^(linux|darwin)-(x64|arm64)$/, 'Write linux-x64, linux-arm64, …'), z.string().min(1))
    .default({})
    .describe(
      'By platform (`linux-arm64`): Node executable for agents on machines of another platform than the server.',
    ),
});

const broker = z.object({
  address: z
    .string()
    .min(1)
    .optional()
    .describe('Address of the broker for agents on new machines: host:port, http:// or https://.'),
  addresses: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'More addresses of the same broker, like those of other replicas. Agents try the next one if one does not answer.',
    ),
  publicAddress: oneOrMore(z.string().min(1))
    .default([])
    .describe('Addresses of the broker from outside the network: one or several, tried last.'),
});

export const serverFields = {
  server: server.prefault({}).describe('The addresses of this server.'),
  store: storePlace()
    .optional()
    .describe('Where the database is: a directory (SQLite), or `postgres://…` for several replicas.')
    .meta({ defaultText: '`data_dir`' }),
  dataDir: z
    .string()
    .min(1)
    .optional()
    .describe('Directory for files of the server; relative to the directory where it was started.')
    .meta({ defaultText: `\`$MUSTER_DATA_DIR\`, or \`${DEFAULT_DATA_DIR}\`` }),
  tls: tls
    .optional()
    .describe('Certificate of the server. Without it the server creates its own CA at the first start.'),
  allowNewPool: z
    .boolean()
    .default(false)
    .describe('Whether an agent or a session that names an unknown pool creates it as a manual pool.'),
  defaultBrokerInfo: broker.prefault({}).describe('The address of the broker for new machines.'),
  access: access.prefault({}).describe('Access to the API.'),
  agent: agent.prefault({}).describe('How agents behave when they lose contact with the server.'),
  retention: retention.prefault({}).describe('How long history is kept.'),
  files: files.prefault({}).describe('Files that `muster run --sync` uploads.'),
  log: log.prefault({}).describe('What is logged.'),
  requestRates: z
    .record(z.string(), z.number().positive().max(1_000))
    .default({})
    .describe(
      'By cloud (`aws`): factor for the published request limits of the account. Below 1 leaves room for other programs.',
    ),
  plugins: z
    .array(z.string().min(1))
    .default([])
    .describe('Packages or files with more providers. Each has a provider as its default export.'),
  storage: unused('Muster keeps no file systems for sessions').describe('Setting of Velda without effect here.'),
  logStorage: unused('the output of sessions is kept in the store').describe('Setting of Velda without effect here.'),
  fileContentServer: unused('Muster keeps no file systems for sessions').describe(
    'Setting of Velda without effect here.',
  ),
  sshConnector: unused('machines get their agent at boot, not by SSH').describe(
    'Setting of Velda without effect here.',
  ),
};

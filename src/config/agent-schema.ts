import { z } from 'zod';
import { DEFAULT_AGENT_LEASE_MS, DEFAULT_AGENT_WORK_DIR } from '#core/defaults.ts';
import { formatDuration } from '#core/duration.ts';
import { count, duration, freeMap, oneOrMore, secret, unused } from '#core/schema.ts';

const NO_SANDBOX = 'sessions run as plain processes, without a sandbox';
const NO_NETWORK = 'sessions share the network of the machine';
const IN_SESSION = 'it configures the agent inside a Velda session';

const broker = z.object({
  address: z.string().min(1).optional().describe('Address of the server: `host:port`, `http://…` or `https://…`.'),
  addresses: z
    .array(z.string().min(1))
    .default([])
    .describe('More addresses of the same server. The agent tries the next one if one does not answer.'),
  publicAddress: oneOrMore(z.string().min(1)).default([]).describe('One more address, or several; tried last.'),
  ca: z.string().optional().describe('CA certificate to trust, as PEM text.').meta({
    defaultText: 'that of the file `$MUSTER_CA`, or those of the machine',
  }),
});

const sandboxConfig = z.object({
  diskSource: unused(NO_SANDBOX),
  allowedHostMountSources: unused(NO_SANDBOX),
  hostMounts: unused(NO_SANDBOX),
  maxTime: unused('give sessions a timeout'),
  hostLocalMountBaseDir: unused(NO_SANDBOX),
  allocateTty: unused('a session requests its own terminal'),
  apparmorProfile: unused(NO_SANDBOX),
  nvidiaDriverInstallDir: unused(NO_SANDBOX),
});

const daemonConfig = z.object({
  agentName: z
    .string()
    .min(1)
    .optional()
    .describe('The name of its worker.')
    .meta({ defaultText: '`$AGENT_NAME`, or the host name up to its first dot' }),
  maxSessions: count()
    .optional()
    .describe('Number of sessions that it runs at a time; 0 means the default.')
    .meta({ defaultText: '`$MUSTER_SLOTS`, or 1' }),
  workDirPath: z
    .string()
    .min(1)
    .default(DEFAULT_AGENT_WORK_DIR)
    .describe('Folder for the output and results of sessions until the server has them.'),
  mtlsClientCertPath: z.string().min(1).optional().describe('File of its client certificate, as PEM.'),
  mtlsClientKeyPath: z.string().min(1).optional().describe('File of its key, as PEM.'),
  network: unused(NO_NETWORK),
  primaryNetworkDeviceName: unused(NO_NETWORK),
});

/** The agent's file: the one that agents of Velda have, and a few keys of our own. */
export const agentSchema = z.object({
  broker: broker.prefault({}).describe('The server to join.'),
  pool: z.string().min(1).optional().describe('The pool to join; `--pool` wins.'),
  joinToken: secret().min(1).optional().describe('Join token of the pool; `file:/path` reads it from a file.'),
  labels: freeMap().prefault({}).describe('Labels of this agent; sessions can ask for them.'),
  lease: duration(1_000)
    .optional()
    .describe('After this time without contact to the server, the agent takes no new sessions and stops when idle.')
    .meta({ defaultText: `the setting of the server, or ${formatDuration(DEFAULT_AGENT_LEASE_MS)}` }),
  notices: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'must be the name of a cloud, like aws')
    .optional()
    .describe('The cloud whose interruption notices the agent reads (spot machines), like `aws`.'),
  serve: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe('Port on which the agent answers `GET /health` with 200; `--serve` wins. Absent: on none.'),
  endsAt: z.iso
    .datetime({ offset: true })
    .transform((text) => Date.parse(text))
    .optional()
    .describe(
      'When the agent ends its sessions and itself, as a date with time and zone. The server may set it later.',
    ),
  daemonConfig: daemonConfig
    .refine(
      (daemon) => (daemon.mtlsClientCertPath === undefined) === (daemon.mtlsClientKeyPath === undefined),
      'needs both mtls_client_cert_path and mtls_client_key_path, or neither',
    )
    .prefault({})
    .describe('Settings of the agent.'),
  sandboxConfig: sandboxConfig.optional().describe('Settings of Velda without effect here; each key gets a warning.'),
  session: unused(IN_SESSION),
  instance: unused(IN_SESSION),
  taskId: unused(IN_SESSION),
  service: unused(IN_SESSION),
});

import { canonicalJson } from './canonical.ts';
import type { ServerConfig } from './server-file.ts';

/** The keys that are read once, at start, with what they set. All others take effect as soon as the file is read again. */
const READ_AT_START: Readonly<Record<string, (config: ServerConfig) => unknown>> = {
  'server.grpc_address': ({ grpc }) => grpc,
  'server.http_address': ({ http }) => http,
  'server.peer_address': ({ peer }) => peer,
  'server.limits': ({ limits }) => limits,
  files: ({ files }) => files,
  clusters: ({ clusters }) => clusters,
  store: ({ store }) => store,
  data_dir: ({ dataDir }) => dataDir,
  tls: ({ tls }) => tls,
  plugins: ({ plugins }) => plugins,
  default_broker_info: ({ broker }) => broker,
  allow_new_pool: ({ allowNewPool }) => allowNewPool,
  access: ({ access }) => access,
  agent: ({ agent }) => agent,
  retention: ({ retention }) => retention,
  log: ({ log }) => log,
  request_rates: ({ requestRates }) => requestRates,
};

/** Which keys differ that only a restart can change. */
export function changesNeedingRestart(before: ServerConfig, after: ServerConfig): readonly string[] {
  return Object.entries(READ_AT_START)
    .filter(([, read]) => canonicalJson(read(before)) !== canonicalJson(read(after)))
    .map(([key]) => key);
}

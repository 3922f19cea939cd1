import { expect, it } from 'vitest';
import { changesNeedingRestart } from './restart.ts';
import { readServerFile, type ServerConfig } from './server-file.ts';
import { standInKinds, testEnvironment } from './testing.ts';

const configOf = (text: string): ServerConfig =>
  readServerFile(text, { kinds: standInKinds, environment: testEnvironment() }).value as ServerConfig;

it.each([
  ['server: {http_address: ":80"}', ['server.http_address']],
  ['server: {peer_address: ":82"}', ['server.peer_address']],
  ['server: {limits: {requests_per_token: 5}}', ['server.limits']],
  ['server: {grpc_address: ":81"}\nstore: /x', ['server.grpc_address', 'store']],
  ['data_dir: /x', ['store', 'data_dir']],
  ['log: {level: debug}', ['log']],
  ['agent: {lease: 5m}\nretention: {output: 1d}', ['agent', 'retention']],
  ['request_rates: {aws: 0.5}', ['request_rates']],
  ['clusters: {prod: {gke: {project: p}}}', ['clusters']],
  ['agent_pools: [{name: a}]', []],
  ['provisioners: [{aws: {config_prefix: /a}}]', []],
  ['server: {http_address: "127.0.0.1:8081"}', []],
])('names what of "%s" waits for a restart', (text, keys) => {
  expect(changesNeedingRestart(configOf('{}'), configOf(text))).toEqual(keys);
});

it('has a word on every part of the configuration', () => {
  const live = ['pools', 'sources', 'sections'];
  const everything = configOf(
    'server: {http_address: ":1", grpc_address: ":2", peer_address: ":3", limits: {streams_per_connection: 2}}\nstore: /x\nfiles: {session_files: 5}\ndata_dir: /y\ntls: {cert: a, key: b}\nallow_new_pool: true\n' +
      'default_broker_info: {address: "a:1"}\naccess: {allowed_hosts: [a]}\nagent: {lease: 5m}\nretention: {output: 1d}\nlog: {level: debug}\nplugins: [p]\nclusters: {prod: {gke: {project: p}}}\nrequest_rates: {aws: 2}',
  );

  const named = changesNeedingRestart(configOf('{}'), everything);

  expect(named).toHaveLength(Object.keys(everything).length - live.length);
});

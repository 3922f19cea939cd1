import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { editorSchema } from './editor-schema.ts';
import { readPool } from './pool-document.ts';
import { standInKinds } from './testing.ts';

// An editor ignores keywords that it does not know, such as `doNotSuggest`.
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isPool = ajv.compile(JSON.parse(editorSchema('pool', standInKinds)));
const isServerFile = ajv.compile(JSON.parse(editorSchema('server', standInKinds)));
const isAccepted = (text: string): boolean =>
  readPool(text, { kinds: standInKinds.backends, trust: 'operator' }).problems === undefined;

const BACKEND = 'backend: { aws_launch_template: { region: us-west-2 } }';

describe('the schema of a pool document', () => {
  it.each([
    'name: a',
    `{ name: a, auto_scaler: { max_agents: 3, idle_decay: 5m, ${BACKEND} } }`,
    '{ name: a, autoScaler: { maxAgents: 3, idleDecay: 5m, backend: { awsLaunchTemplate: { region: us-west-2 } } } }',
    `{ name: a, autoScaler: { max_agents: "3", sync_loop_interval: 90, ${BACKEND} } }`,
    '{ name: a, auto_scaler: { backends: [{ aws_launch_template: {}, price_per_hour: 1, max_agents: 2 }] } }',
    '{ name: a, labels: { someKey: x }, bootTimeout: 1m, agentAuth: network, agentNetworks: [10.0.0.0/8] }',
  ])('takes what the server takes: %s', (text) => {
    expect(isAccepted(text)).toBe(true);
    expect(isPool(parse(text)), JSON.stringify(isPool.errors)).toBe(true);
  });

  it.each([
    'nam: a',
    '{ name: a, auto_scaler: { max_agnts: 3 } }',
    '{ name: a, autoScaler: { maxAgnts: 3 } }',
    '{ name: a, auto_scaler: { max_agents: many } }',
    '{ name: a, autoScaler: { maxAgents: -1 } }',
    '{ name: a, update_policy: sometimes }',
    '{ name: a, auto_scaler: { backend: { aws_launch_templat: {} } } }',
    '{ name: a, auto_scaler: { idle_decay: soon } }',
  ])('refuses what the server refuses: %s', (text) => {
    expect(isAccepted(text)).toBe(false);
    expect(isPool(parse(text))).toBe(false);
  });
});

it('the schema of the server file takes keys in both spellings, and has an id of its own', () => {
  expect(isServerFile({ agentPools: [{ name: 'a', auto_scaler: { maxAgents: 1 } }] })).toBe(true);
  expect(isServerFile({ agentPools: [{ name: 'a', auto_scaler: { maxAgnts: 1 } }] })).toBe(false);
  expect([isPool.schema, isServerFile.schema]).toMatchObject([
    { $id: 'urn:muster:schema:pool' },
    { $id: 'urn:muster:schema:server' },
  ]);
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { until } from '#core/testing/until.ts';
import provider from '../index.ts';
import simulation from './simulation.ts';

const SCRIPT = `#!/bin/sh
ask() { curl -fsS -H metadata:true "$AZURE_METADATA_URL/metadata/$1"; }
ask instance/compute/name > "$MUSTER_ROOT/name.new" && mv "$MUSTER_ROOT/name.new" "$MUSTER_ROOT/name"
until ask scheduledevents | grep -q Preempt; do sleep 0.1; done
touch "$MUSTER_ROOT/evicted"
`;

const GROUP = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/velda';
const IMAGE = { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku: 'server', version: 'latest' };

const machine = {
  location: 'westeurope',
  properties: {
    hardwareProfile: { vmSize: 'Standard_D2s_v5' },
    priority: 'Spot',
    storageProfile: { imageReference: IMAGE, osDisk: { createOption: 'FromImage' } },
    networkProfile: { networkInterfaces: [{ id: `${GROUP}/providers/Microsoft.Network/networkInterfaces/spare` }] },
    osProfile: {
      adminUsername: 'azureuser',
      adminPassword: 'not a real one',
      customData: Buffer.from(SCRIPT).toString('base64'),
    },
  },
};

const going = (): AbortSignal => new AbortController().signal;

test('the simulated Azure has a scale set, its store has a pool of it, and what the pool asks for runs in the set', async () => {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  onTestFinished(running.close);
  const context: Context = {
    ...{ cluster: 'cluster1', clock: systemClock, random: systemRandom, log: silentLog, fetch, shared: openShared() },
    ...{ dataDir: '/nowhere', agentCommand: [], variable: (name) => running.environment[name] },
  };
  const { azure } = provider.sources;
  const source = await azure.open(azure.config.parse({ endpoint: running.address, configPrefix: 'pools/' }), context);
  const documents = await source.documents(new Map(), going());
  const { auto_scaler: policy } = JSON.parse(documents.find(({ key }) => key === 'pools/my-set-pool')?.text ?? '{}');
  const { azure_vmss: kind } = provider.backends;
  const { resource_group: resourceGroup, vmss_name: vmssName } = policy.backend.azure_vmss;
  const backend = await kind.open(kind.config.parse({ resourceGroup, vmssName }), context);
  const mark = { cluster: 'cluster1', use: 'worker', owner: 'pool1', shape: 's1' } as const;
  const boot = { agentConfig: 'pool: my-set-pool\n', token: 'mlt_x' };
  const outcomes = await backend.create({ id: 'l1', mark, names: ['m-in-set'], boot, askedAt: 0 }, going());
  const folder = join(running.folder, 'm-in-set');
  await until('it runs', async () => existsSync(folder));

  expect(outcomes.map(({ name, fault }) => [name, fault])).toEqual([['m-in-set', undefined]]);
});

test('a machine runs its custom data, finds its name, hears of its eviction, and nothing stays when it ends', async () => {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  onTestFinished(running.close);
  const { AZURE_RESOURCE_MANAGER_URL: url = '', AZURE_SUBSCRIPTION_ID: id } = running.environment;
  const path = `/subscriptions/${id}/resourceGroups/velda/providers/Microsoft.Compute/virtualMachines/m-one`;
  const ask = (method: string, tail = '', body?: object) =>
    fetch(`${url}${path}${tail}?api-version=2026-03-01`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const made = await ask('PUT', '', machine);
  const file = (name: string): string => join(running.folder, 'm-one', 'root', name);
  await until('it has run', async () => existsSync(file('name')));
  const evicted = await ask('POST', '/simulateEviction');
  await until('it has heard', async () => existsSync(file('evicted')));

  expect([made.status, evicted.status]).toEqual([201, 204]);
  expect(readFileSync(file('name'), 'utf8')).toBe('m-one');
  await running.close();
  expect(existsSync(running.folder)).toBe(false);
});

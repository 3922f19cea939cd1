import { expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openRequestCheck } from '#fakes/check-request.ts';
import { GROUP_URL, VM_URL, vmBody } from './asking.ts';
import { flexibleSet } from './compute/scale-sets.ts';
import { definition } from './definition.gen.ts';
import { openFakeAzure } from './fake-azure.ts';

const check = openRequestCheck(definition);
const VERSION = { 'api-version': '2026-03-01' };

it('what the fake Azure shows of a machine and of a scale set has no field that the models do not have', async () => {
  const clock = new VirtualClock();
  const fake = openFakeAzure(clock, { lagMs: 0 });
  fake.world.isOpen = true;
  const { pathname } = new URL(GROUP_URL);
  const set = flexibleSet(pathname, { name: 'agents' });
  fake.world.compute.sets.set(set.id.toLowerCase(), set);
  const ask = async (url: string, init: RequestInit = {}): Promise<unknown> => {
    const answer = await fake.fetch(`${url}?${new URLSearchParams(VERSION)}`, init);
    return answer.json();
  };
  const body = JSON.stringify(vmBody({ virtualMachineScaleSet: { id: set.id } }));
  const made = await ask(VM_URL, { method: 'PUT', headers: { 'content-type': 'application/json' }, body });
  const shown = await ask(`https://management.azure.com${set.id}`);

  expect(check('vmPut', { query: VERSION, body: made })).toEqual([]);
  expect(check('setPut', { query: VERSION, body: shown })).toEqual([]);
});

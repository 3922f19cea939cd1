// What Packer's builder azure-arm asks Azure for (builder/azure/arm of Packer 1.6.6), for the tests of this folder.
import { Fault } from '#core/fault.ts';
import type { StandInCloud } from '#packer/testing/stand-in.ts';
import { vmBody } from '../fake/asking.ts';
import { type AzureScene, GROUP, SUBSCRIPTION } from '../fake/testing.ts';

const STEP_MS = 5_000;
const IN_SUBSCRIPTION = `/subscriptions/${SUBSCRIPTION}`;
const COMPUTE = 'providers/Microsoft.Compute';

export const GALLERY = 'velda';
export const IMAGE = `${IN_SUBSCRIPTION}/resourceGroups/${GROUP}/${COMPUTE}/galleries/${GALLERY}/images/muster-agent`;

export function packerFor({ fake, clock }: AzureScene): StandInCloud {
  async function ask(method: string, path: string, body?: object): Promise<void> {
    const token = 'of packer';
    const expiresAt = clock.now() + 60_000;
    fake.world.granted.set(token, { who: 'packer', resource: 'https://management.azure.com', expiresAt });
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
    const url = `https://management.azure.com${path}?api-version=2026-03-01`;
    const answer = await fake.fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Fault('unavailable', await answer.text());
    await clock.sleep(STEP_MS);
  }
  const made = new Set<string>();

  return {
    async start(template) {
      const [name, location] = [template.text('temp_resource_group_name'), template.text('location')];
      const tags = template.tags('azure_tags');
      await ask('PUT', `${IN_SUBSCRIPTION}/resourcegroups/${name}`, { location, tags });
      made.add(name);
      const machine = `${IN_SUBSCRIPTION}/resourceGroups/${name}/${COMPUTE}/virtualMachines/pkrvm`;
      await ask('PUT', machine, vmBody({}, { location, tags }));
    },
    async capture(template) {
      const [name, location] = [template.text('temp_resource_group_name'), template.text('location')];
      const [tags, group] = [template.tags('azure_tags'), template.text('managed_image_resource_group_name')];
      const id = `${IN_SUBSCRIPTION}/resourceGroups/${name}/${COMPUTE}/virtualMachines/pkrvm`;
      const managed = `${IN_SUBSCRIPTION}/resourceGroups/${group}/${COMPUTE}/images/${template.text('managed_image_name')}`;
      await ask('PUT', managed, { location, tags, properties: { sourceVirtualMachine: { id } } });
      const targetRegions = [{ name: location }];
      const properties = { publishingProfile: { targetRegions }, storageProfile: { source: { id: managed } } };
      await ask('PUT', `${IMAGE}/versions/${template.text('image_version')}`, { location, tags, properties });
    },
    async end(template) {
      const name = template.text('temp_resource_group_name');
      if (made.delete(name)) await ask('DELETE', `${IN_SUBSCRIPTION}/resourcegroups/${name}`);
    },
  };
}

// What Packer's builder googlecompute asks Compute Engine for (builder/googlecompute of Packer 1.6.6), for the tests of
// this folder.
import { Fault } from '#core/fault.ts';
import type { StandInCloud } from '#packer/testing/stand-in.ts';
import { PROJECT } from '../fake/compute/seed-data.ts';
import type { ComputeScene } from '../fake/compute/testing/scene.ts';

const STEP_MS = 5_000;

export function packerFor({ fake, clock }: ComputeScene): StandInCloud {
  async function ask(method: string, path: string, body?: object): Promise<void> {
    const headers = {
      authorization: `Bearer ${fake.world.granted.give('muster')}`,
      ...(body && { 'content-type': 'application/json' }),
    };
    const url = `https://compute.googleapis.com/compute/v1/projects/${PROJECT}/${path}`;
    const answer = await fake.fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Fault('unavailable', await answer.text());
    await clock.sleep(STEP_MS);
  }
  const machines = new Set<string>();

  async function endMachine(zone: string, name: string): Promise<void> {
    if (machines.delete(name)) await ask('DELETE', `zones/${zone}/instances/${name}`);
  }

  return {
    async start(template) {
      const [name, zone] = [template.text('instance_name'), template.text('zone')];
      const family = `projects/${template.text('source_image_project_id')}/global/images/family/${template.text('source_image_family')}`;
      await ask('POST', `zones/${zone}/instances/bulkInsert`, {
        count: 1,
        perInstanceProperties: { [name]: {} },
        instanceProperties: {
          machineType: template.text('machine_type'),
          labels: template.tags('labels'),
          disks: [{ boot: true, autoDelete: false, initializeParams: { sourceImage: family } }],
          networkInterfaces: [{ network: 'global/networks/default' }],
        },
      });
      machines.add(name);
    },
    async capture(template) {
      const [name, zone] = [template.text('instance_name'), template.text('zone')];
      await endMachine(zone, name);
      await ask('POST', 'global/images', {
        name: template.text('image_name'),
        family: template.text('image_family'),
        description: template.text('image_description'),
        labels: template.tags('image_labels'),
        sourceDisk: `projects/${PROJECT}/zones/${zone}/disks/${name}`,
      });
      await clock.sleep(5 * STEP_MS);
    },
    async end(template) {
      const [name, zone] = [template.text('instance_name'), template.text('zone')];
      await endMachine(zone, name);
      await ask('DELETE', `zones/${zone}/disks/${name}`);
    },
  };
}

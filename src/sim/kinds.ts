import { z } from 'zod';
import { type KnownKinds, knownKinds } from '#config/kinds.ts';
import { Fault } from '#core/fault.ts';
import { type Backend, kind } from '#core/provider.ts';
import type { SimCloud } from './backend.ts';

const config = z.object({
  region: z.string().describe('Which of the simulated clouds.'),
  size: z.string().default('small').describe('What forms the machine.'),
  pricePerHour: z.number().min(0).default(1).describe('In dollars.'),
});

const LIMITS = { read: 20, write: 20 };

/** The simulated clouds as the backend `sim_cloud`, for one life of the server. */
export function simKinds(
  regions: ReadonlyMap<string, SimCloud>,
  { isAlive, wrap }: { isAlive(): boolean; wrap(backend: Backend): Backend },
): KnownKinds {
  const simCloud = kind<z.output<typeof config>, Backend>({
    summary: 'Machines that exist only on a clock.',
    config,
    example: { region: 'north', size: 'small' },
    trust: 'any source',
    limits: LIMITS,
    async open({ region, pricePerHour }) {
      const cloud = regions.get(region);
      if (!cloud) throw new Fault('invalid', `There is no region "${region}".`);
      return { ...wrap(cloud.backend(isAlive)), pricePerHour: async () => pricePerHour };
    },
  });
  return knownKinds([{ id: 'sim', title: 'Simulated clouds', backends: { sim_cloud: simCloud } }]);
}

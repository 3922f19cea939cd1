import { z } from 'zod';
import { knownKinds } from '#config/kinds.ts';
import { Fault } from '#core/fault.ts';
import { type Backend, type Context, kind } from '#core/provider.ts';

const config = z.object({
  region: z.string().describe('Which of the simulated clouds.'),
  size: z.string().default('small').describe('What forms the machine.'),
  parks: z.int().min(0).default(0).describe('How many idle machines it stops and keeps.'),
  pricePerHour: z.number().min(0).default(1).describe('In dollars.'),
});

/** What a simulated cloud is opened with: the one of this world, as this life of the server reaches it. */
export interface SimContext extends Context {
  openRegion(name: string): Backend | undefined;
}

const simCloud = kind<z.output<typeof config>, Backend>({
  summary: 'Machines that exist only on a clock.',
  config,
  example: { region: 'north', size: 'small' },
  trust: 'any source',
  limits: { read: 20, write: 20 },
  hasPrices: true,
  async open({ region, parks, pricePerHour }, context) {
    const backend = (context as SimContext).openRegion(region);
    if (!backend) throw new Fault('invalid', `There is no region "${region}".`);
    const { park, ...rest } = backend;
    return {
      ...rest,
      ...(park && parks > 0 && { park: { ...park, most: parks } }),
      pricePerHour: async () => pricePerHour,
    };
  },
});

/** Shared by all worlds: the schema of pools is made once for it, and that takes longer than a simulated hour. */
export const SIM_KINDS = knownKinds([{ id: 'sim', title: 'Simulated clouds', backends: { sim_cloud: simCloud } }]);

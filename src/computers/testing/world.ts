// A server with the feature of computers on one simulated cloud; the agents of its machines join by themselves.
import { z } from 'zod';
import type { ComputerCaller, ComputerRequest, Computers } from '#core/computer.ts';
import type { AnyFeature } from '#program/features.ts';
import { rowOn } from '#sim/disk.ts';
import { SIM_KINDS } from '#sim/kinds.ts';
import { openPoolWorld, type PoolWorld, type PoolWorldOptions } from '#sim/pool-world.ts';
import computers from '../index.ts';

/** What templates may name. */
const KINDS = {
  backends: { sim: { ...SIM_KINDS.backends.sim_cloud, config: z.object({}) } },
  sources: {},
} as typeof SIM_KINDS;

export const ADMIN: ComputerCaller = { who: 'token:admin', from: '127.0.0.1', token: 't-admin', isAdmin: true };
export const ANN: ComputerCaller = { who: 'token:ann', from: '127.0.0.1', token: 't-ann', isAdmin: false };

export interface ComputerWorld extends PoolWorld {
  readonly computers: Computers;
  create(name: string, more?: Partial<ComputerRequest>): ReturnType<Computers['create']>;
  /** The names of machines of computers that the cloud has. */
  made(): readonly string[];
  statusOf(name: string): string;
  eventsOf(name: string): readonly string[];
}

/** The sections are those of the server's file. */
export async function openComputerWorld(
  options: PoolWorldOptions & { readonly sections?: Readonly<Record<string, unknown>> } = {},
): Promise<ComputerWorld> {
  const feature = computers as unknown as AnyFeature;
  const parse = (given: unknown) => feature.section?.schema(KINDS).parse(given);
  const world: PoolWorld = await openPoolWorld({
    pools: [],
    hasShapes: () => true,
    ownerName: (id) => rowOn(world.disk, 'computers', id)?.name,
    ...options,
    parts: {
      features: [feature],
      sections: { computers: parse(options.sections?.computers ?? {}) },
      ...options.parts,
    },
  });
  const running = (): Computers => world.life.features.public.computers as Computers;
  const own = {
    get computers() {
      return running();
    },
    create: (name: string, more: Partial<ComputerRequest> = {}) =>
      running().create({ name, ...(more.platform || more.template ? {} : { backend: { sim: {} } }), ...more }, ADMIN),
    made: () =>
      world.cloud
        .machines()
        .filter(({ machine }) => machine.mark?.use === 'computer')
        .map(({ name }) => name),
    statusOf: (name: string) => running().find(name)?.status ?? 'none',
    eventsOf(name: string) {
      const id = running().find(name)?.computer.id;
      const ended = world.disk.histories.endedComputers.find((one) => one.name === name)?.computer;
      const subject = `computer/${id ?? ended}`;
      return world.disk.histories.events.filter((event) => event.subject === subject).map(({ kind }) => kind);
    },
  };
  // Not by assignment: that would keep the computers of the first life.
  return Object.create(world, Object.getOwnPropertyDescriptors(own)) as ComputerWorld;
}

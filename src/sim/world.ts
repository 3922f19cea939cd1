// One world for every use: the composition of the program on a virtual clock, with a disk, agents and clouds that
// outlive the server.
import { VirtualClock } from '#core/virtual-clock.ts';
import { type Disk, emptyDisk } from '#store/memory.ts';
import { openSimAgents, type SimAgents, type SimAgentsOptions } from './agents.ts';
import type { Chance } from './chance.ts';
import { type CrashPoint, type CrashPoints, openCrashPoints } from './crash-points.ts';
import { type FaultDraws, NO_FAULTS, openFaultDraws } from './faults.ts';
import { type Network, type NetworkOptions, openNetwork } from './network.ts';
import { openServer, type Server, type ServerHooks } from './server.ts';

export interface WorldOptions extends ServerHooks {
  readonly clock?: VirtualClock | undefined;
  readonly disk?: Disk | undefined;
  /** What goes wrong with the disk; absent: nothing. */
  readonly draws?: FaultDraws;
  readonly crashAt?: CrashPoint | undefined;
  /** Each part draws from a stream of chance of its own. */
  chance(part: 'network' | 'agents' | 'disk'): Chance;
  readonly latency?: Pick<NetworkOptions, 'mostLatencyMs' | 'noticedWithinMs'>;
  readonly agents?: Omit<SimAgentsOptions, 'clock' | 'chance' | 'network'>;
}

export interface World {
  readonly clock: VirtualClock;
  readonly disk: Disk;
  readonly network: Network;
  readonly agents: SimAgents;
  readonly server: Server;
  readonly crashPoints: CrashPoints;
  /** How many commits, calls and messages there were. */
  readonly points: CrashPoints['counts'];
}

/** Opens a world whose server has not started yet. */
export function openWorld(options: WorldOptions): World {
  const { clock = new VirtualClock(), disk = emptyDisk(), chance, latency = { mostLatencyMs: 0 } } = options;
  const { draws = openFaultDraws({ clock, rates: NO_FAULTS, hasSpells: false }), crashAt: at } = options;
  const network = openNetwork({ clock, chance: chance('network'), ...latency });
  const agents = openSimAgents({ clock, chance: chance('agents'), network, ...options.agents });
  const crashPoints = openCrashPoints({ clock, chance: chance('disk'), draws, at });
  const server = openServer({ ...options, clock, disk, network, crashPoints });
  return { clock, disk, network, agents, server, crashPoints, points: crashPoints.counts };
}

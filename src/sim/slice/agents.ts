// The agents of a fake cloud's machines on the virtual clock: each boots from what its machine was given, and dies with it.
import type { Clock } from '#core/clock.ts';
import { type SimAgent, startAgent } from '../agent.ts';
import type { Chance } from '../chance.ts';
import type { Network } from '../network.ts';
import type { SliceCloud, SliceMachine } from './cloud.ts';

export interface SliceAgents {
  /** Number of starts of each session, over all machines. */
  readonly runs: ReadonlyMap<string, number>;
  /** Machines that were ended while a session ran on them. */
  readonly kills: readonly string[];
}

export interface SliceAgentsOptions {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly cloud: Pick<SliceCloud, 'watch'>;
  readonly network: Network;
  isOurs(machine: SliceMachine): boolean;
  poolName(id: string): string;
}

const LEASE_MS = 30 * 60_000;
const TOKEN = /mlt_[\w-]+/;

export function openSliceAgents(options: SliceAgentsOptions): SliceAgents {
  const { clock, chance, network } = options;
  const runs = new Map<string, number>();
  const kills: string[] = [];
  const agents = new Map<string, SimAgent>();

  function start({ id, name, mark, address, scripts }: SliceMachine): void {
    const agent = startAgent({
      name,
      file: { pool: options.poolName(mark?.owner ?? ''), slots: 1, leaseMs: LEASE_MS },
      token: TOKEN.exec(scripts().join('\n'))?.[0] ?? '',
      // Another machine under the same name has another disk.
      key: `key of ${id}`,
      address,
      clock,
      chance,
      quirks: {},
      dial: network.dial,
      refuses: () => false,
      started: ({ session }) => void runs.set(session, (runs.get(session) ?? 0) + 1),
      ended: () => {},
      left: () => {},
    });
    agents.set(id, agent);
  }

  function end(id: string, agent: SimAgent): void {
    if (agent.running > 0) kills.push(agent.name);
    agents.delete(id);
    agent.die();
    network.drop(agent);
  }

  function look(machine: SliceMachine): void {
    const agent = agents.get(machine.id);
    const isUp = machine.state(clock.now()) === 'running';
    if (isUp && !agent) start(machine);
    if (!isUp && agent) end(machine.id, agent);
    const nextMs = machine.nextChangeMs(clock.now());
    if (nextMs !== undefined) clock.alarm(nextMs - clock.now(), () => look(machine));
  }

  options.cloud.watch((machine) => {
    if (options.isOurs(machine)) look(machine);
  });
  return { runs, kills };
}

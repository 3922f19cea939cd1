// The agents of all simulated machines: each boots with its machine, or does not, and dies with it.
import type { Clock } from '#core/clock.ts';
import { type AgentFile, type AgentQuirks, type SimAgent, startAgent } from './agent.ts';
import type { AgentRun } from './agent-run.ts';
import type { SimCloud, SimMachine } from './backend.ts';
import type { Chance } from './chance.ts';
import type { FaultDraws } from './faults.ts';
import type { Happenings } from './happenings.ts';
import type { Network } from './network.ts';

export interface Fleet {
  /** By the name of their machine. */
  readonly agents: ReadonlyMap<string, SimAgent>;
  watch(cloud: SimCloud): void;
  cut(agents: Iterable<SimAgent>, ms: number): void;
  /** Their cloud announces that it takes their machines back, and two minutes later does. */
  takeBack(agents: Iterable<SimAgent>): void;
}

export interface FleetOptions {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly draws: FaultDraws;
  readonly network: Network;
  readonly happenings: Happenings;
  readonly quirks: AgentQuirks;
  /** Whether that pool stops idle machines and keeps them. */
  parks(pool: string): boolean;
  started(run: AgentRun, agent: SimAgent): void;
  ended(run: AgentRun, agent: SimAgent): void;
  gone(agent: SimAgent): void;
}

const MEAN_LIFE_MS = 30 * 60_000;
const NOTICE_MS = 2 * 60_000;

export function openFleet(options: FleetOptions): Fleet {
  const { clock, chance, draws, network, happenings } = options;
  const agents = new Map<string, SimAgent>();
  const clouds = new WeakMap<SimAgent, SimCloud>();
  // The machines of a pool all boot with the same text.
  const files = new Map<string, AgentFile>();

  function fileOf(text: string): AgentFile {
    const file = files.get(text) ?? (JSON.parse(text) as AgentFile);
    files.set(text, file);
    return file;
  }

  function boot(cloud: SimCloud, { machine, launch }: SimMachine): void {
    if (!launch || draws.strikes('no-boot', chance)) return;
    planDeath(cloud, machine.name);
    clock.alarm(chance.ms(500, 5_000), () => {
      if (cloud.find(machine.name)?.state === 'running') begin(cloud, machine.name, launch.boot);
    });
  }

  function begin(cloud: SimCloud, name: string, boot: { readonly agentConfig: string; readonly token: string }): void {
    const agent = startAgent({
      name,
      file: fileOf(boot.agentConfig),
      token: boot.token,
      clock,
      chance,
      quirks: options.quirks,
      dial: network.dial,
      refuses: () => draws.strikes('refusal', chance),
      started: options.started,
      ended: options.ended,
      left(gone) {
        happenings.note('agent left', name);
        // As a container or a process does; other machines, and all that can be stopped and kept, stay until they are deleted.
        if (chance.happens(0.5) && !options.parks(gone.pool)) cloud.kill(name);
        else end(gone);
      },
    });
    agents.set(name, agent);
    clouds.set(agent, cloud);
  }

  function planDeath(cloud: SimCloud, name: string): void {
    if (draws.strikes('machine-death', chance)) {
      clock.alarm(chance.exponentialMs(MEAN_LIFE_MS), () => {
        if (!cloud.find(name)) return;
        happenings.note('machine died', name);
        cloud.kill(name);
      });
    } else if (draws.strikes('machine-failure', chance)) {
      clock.alarm(chance.exponentialMs(MEAN_LIFE_MS), () => fail(cloud, name));
    }
  }

  function fail(cloud: SimCloud, name: string): void {
    if (!cloud.find(name)) return;
    happenings.note('machine failed', name);
    cloud.trouble(name, { kind: 'unavailable', message: 'its disk is broken', final: true }, 'failed');
    const agent = agents.get(name);
    if (agent) end(agent);
  }

  function end(agent: SimAgent): void {
    if (agents.get(agent.name) !== agent) return;
    agents.delete(agent.name);
    agent.die();
    network.drop(agent);
    options.gone(agent);
  }

  return {
    agents,
    watch(cloud) {
      cloud.onBoot((made) => boot(cloud, made));
      cloud.onGone(({ machine }) => {
        const agent = agents.get(machine.name);
        if (agent) end(agent);
      });
    },
    cut(cutOff, ms) {
      for (const agent of cutOff) network.cut(agent, ms);
    },
    takeBack(taken) {
      for (const agent of taken) {
        agent.takeNotice({ why: 'the cloud reclaims its machine', endsAt: clock.now() + NOTICE_MS });
        clock.alarm(NOTICE_MS, () => clouds.get(agent)?.kill(agent.name));
      }
    },
  };
}

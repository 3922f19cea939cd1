// Agents start on the machines of simulated clouds, or do not; machines die, fail, or are taken back.
import type { Clock } from '#core/clock.ts';
import type { AgentFile, SimAgent } from './agent.ts';
import type { SimAgents } from './agents.ts';
import type { SimCloud, SimMachine } from './backend.ts';
import type { Chance } from './chance.ts';
import type { EventLog } from './event-log.ts';
import type { FaultDraws } from './faults.ts';

export interface MachineFaults {
  watch(cloud: SimCloud): void;
  /** Their cloud announces that it takes their machines back, and two minutes later does. */
  takeBack(agents: Iterable<SimAgent>): void;
}

export interface MachineFaultOptions {
  readonly clock: Clock;
  /** The one that agents draw from. */
  readonly chance: Chance;
  readonly draws: FaultDraws;
  readonly agents: SimAgents;
  readonly eventLog: EventLog;
  /** Whether that pool stops idle machines and keeps them. */
  parks(pool: string): boolean;
}

const MEAN_LIFE_MS = 30 * 60_000;
const NOTICE_MS = 2 * 60_000;

export function openMachineFaults(options: MachineFaultOptions): MachineFaults {
  const { clock, chance, draws, agents, eventLog } = options;
  const clouds = new WeakMap<SimAgent, SimCloud>();
  // The machines of a pool all boot with the same text.
  const files = new Map<string, AgentFile>();

  function fileOf(text: string): AgentFile {
    const file = files.get(text) ?? (JSON.parse(text) as AgentFile);
    files.set(text, file);
    return file;
  }

  function boot(cloud: SimCloud, { machine: { name }, launch }: SimMachine): void {
    if (!launch || draws.strikes('no-boot', chance)) return;
    planDeath(cloud, name);
    const { agentConfig, token } = launch.boot;
    clock.alarm(chance.ms(500, 5_000), () => {
      if (cloud.find(name)?.state !== 'running') return;
      clouds.set(agents.start({ name, file: fileOf(agentConfig), token, left: (agent) => left(cloud, agent) }), cloud);
    });
  }

  function left(cloud: SimCloud, agent: SimAgent): void {
    eventLog.note('agent left', agent.name);
    // As a container or a process does; other machines, and all that can be stopped and kept, stay until they are deleted.
    if (chance.happens(0.5) && !options.parks(agent.pool)) cloud.kill(agent.name);
    else if (agents.all.get(agent.name) === agent) agents.end(agent.name);
  }

  function planDeath(cloud: SimCloud, name: string): void {
    if (draws.strikes('machine-death', chance)) {
      clock.alarm(chance.exponentialMs(MEAN_LIFE_MS), () => {
        if (!cloud.find(name)) return;
        eventLog.note('machine died', name);
        cloud.kill(name);
      });
    } else if (draws.strikes('machine-failure', chance)) {
      clock.alarm(chance.exponentialMs(MEAN_LIFE_MS), () => fail(cloud, name));
    }
  }

  function fail(cloud: SimCloud, name: string): void {
    if (!cloud.find(name)) return;
    eventLog.note('machine failed', name);
    cloud.trouble(name, { kind: 'unavailable', message: 'its disk is broken', final: true }, 'failed');
    agents.end(name);
  }

  return {
    watch(cloud) {
      cloud.onBoot((made) => boot(cloud, made));
      cloud.onGone(({ machine }) => agents.end(machine.name));
    },
    takeBack(taken) {
      for (const agent of taken) {
        agent.takeNotice({ why: 'the cloud reclaims its machine', endsAt: clock.now() + NOTICE_MS });
        clock.alarm(NOTICE_MS, () => clouds.get(agent)?.kill(agent.name));
      }
    },
  };
}

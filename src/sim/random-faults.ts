// What goes wrong at random times: cuts, clock jumps, crashes, and people who change their minds.
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import type { VirtualClock } from '#core/virtual-clock.ts';
import type { SimAgent } from './agent.ts';
import type { SimAgents } from './agents.ts';
import type { Chance } from './chance.ts';
import type { Definitions } from './definitions.ts';
import { someDefinition } from './definitions.ts';
import type { EventLog } from './event-log.ts';
import type { FaultDraws, FaultName } from './faults.ts';
import type { Network } from './network.ts';
import type { Life } from './server.ts';

export interface RandomFaultOptions {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly draws: FaultDraws;
  readonly agents: SimAgents;
  readonly network: Network;
  readonly definitions: Definitions;
  readonly eventLog: EventLog;
  readonly regions: readonly string[];
  life(): Life | undefined;
  crash(): void;
}

export function startRandomFaults(options: RandomFaultOptions): void {
  const { clock, chance, draws, agents, network, definitions, eventLog } = options;

  /** Lets something happen so often an hour, for each `per` of what there is at the time. */
  function often(name: FaultName, share: () => number, happen: () => string | undefined): void {
    const perHour = draws.usualRate(name) * Math.max(0.1, share());
    if (perHour === 0) return;
    clock.alarm(chance.exponentialMs(HOUR_MS / perHour), () => {
      const about = draws.rate(name) > 0 ? happen() : undefined;
      if (about !== undefined) {
        draws.count(name);
        eventLog.note(name, about);
      }
      often(name, share, happen);
    });
  }

  const once = (): number => 1;
  const ofMachines = (): number => agents.all.size / 10;
  const ofPools = (): number => definitions.names().length / 10;
  const somePool = (): string => chance.pick(definitions.names());

  function cutAgent(): string | undefined {
    const agent = chance.pick([...agents.all.values()]) as SimAgent | undefined;
    if (!agent) return undefined;
    const ms = chance.happens(0.5) ? chance.ms(1_000, 60_000) : chance.ms(1 * MINUTE_MS, 20 * MINUTE_MS);
    network.cut(agent, ms);
    return `${agent.name} for ${Math.round(ms / 1_000)} s`;
  }

  function cutPool(): string {
    const pool = somePool();
    const cutOff = [...agents.all.values()].filter((agent) => agent.pool === pool);
    for (const agent of cutOff) network.cut(agent, 90_000);
    return `${pool}, ${cutOff.length} agents`;
  }

  function jump(): string {
    const ms = chance.ms(-20 * MINUTE_MS, 20 * MINUTE_MS);
    clock.jump(ms);
    return `${ms} ms`;
  }

  function edit(): string {
    const name = somePool();
    if (chance.happens(0.3)) {
      definitions.move(name);
      return `${name} moves to another source`;
    }
    const definition = definitions.get(name);
    const drawn = someDefinition(name, options.regions, chance);
    const fresh = {
      ...drawn,
      parks: definition?.parks ?? 0,
      ...(definition?.updates && { updates: definition.updates }),
    };
    if (definition) definitions.write(chance.happens(0.5) ? { ...definition, maxAgents: fresh.maxAgents } : fresh);
    return name;
  }

  /** Takes a definition away or spoils it, and brings it back after a while. */
  function spoil(how: 'remove' | 'nonsense'): string {
    const name = somePool();
    const definition = definitions.get(name);
    if (!definition) return name;
    if (how === 'remove') definitions.remove(name);
    else definitions.write(definition, JSON.stringify({ name, auto_scalar: {} }));
    clock.alarm(chance.ms(1 * MINUTE_MS, 40 * MINUTE_MS), () => definitions.write(definitions.get(name) ?? definition));
    return name;
  }

  function operate(): string | undefined {
    const life = options.life();
    const name = somePool();
    const workers = [...(life?.store.view.workers.all() ?? [])];
    if (!life || workers.length === 0) return undefined;
    if (chance.happens(0.5)) {
      const { id } = chance.pick(workers);
      life.workers.drain(id, SELF).catch(() => {});
      return `drains ${id}`;
    }
    life.pools.pause(name, true, SELF).catch(() => {});
    const resume = (): void =>
      void options
        .life()
        ?.pools.pause(name, false, SELF)
        .catch(() => {});
    clock.alarm(chance.ms(1 * MINUTE_MS, 15 * MINUTE_MS), resume);
    return `pauses ${name}`;
  }

  function crash(): string | undefined {
    if (!options.life()) return undefined;
    options.crash();
    return '';
  }

  often('agent-cut', ofMachines, cutAgent);
  often('pool-cut', ofPools, cutPool);
  often('clock-jump', once, jump);
  often('crash', once, crash);
  often('edit', ofPools, edit);
  often('removal', ofPools, () => spoil('remove'));
  often('nonsense', ofPools, () => spoil('nonsense'));
  often('operator', ofPools, operate);
}

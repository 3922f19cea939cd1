import type { Clock } from '#core/clock.ts';
import type { SimAgents } from '../agents.ts';
import type { SliceCloud, SliceMachine } from './cloud.ts';

export interface SliceAgentsOptions {
  readonly clock: Clock;
  readonly cloud: Pick<SliceCloud, 'watch'>;
  readonly agents: SimAgents;
  isOurs(machine: SliceMachine): boolean;
  ownerName(id: string): string;
}

const LEASE_MS = 30 * 60_000;
const TOKEN = /mlt_[\w-]+/;
const ENDS_AT = /^endsAt: (\d+)$/m;

/** Starts an agent on each machine of a fake cloud that runs, from what the machine was given, and ends it with its machine. */
export function startSliceAgents({ clock, cloud, agents, isOurs, ownerName }: SliceAgentsOptions): void {
  function start({ id, name, mark, address, scripts, poweredOff }: SliceMachine): void {
    const script = scripts().join('\n');
    const end = ENDS_AT.exec(script)?.[1];
    agents.start({
      id,
      name,
      file: {
        pool: ownerName(mark?.owner ?? ''),
        slots: 1,
        leaseMs: LEASE_MS,
        endsAt: end === undefined ? undefined : Number(end),
      },
      token: TOKEN.exec(script)?.[0] ?? '',
      // Another machine under the same name has another disk.
      key: `key of ${id}`,
      address,
      timeIsOver: () => poweredOff?.(clock.now()),
    });
  }

  function look(machine: SliceMachine): void {
    const isUp = machine.state(clock.now()) === 'running';
    if (!isUp) agents.end(machine.id, true);
    else if (!agents.all.has(machine.id)) start(machine);
    const nextMs = machine.nextChangeMs(clock.now());
    if (nextMs !== undefined) clock.alarm(nextMs - clock.now(), () => look(machine));
  }

  cloud.watch((machine) => {
    if (isOurs(machine)) look(machine);
  });
}

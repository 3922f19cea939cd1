import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { type Log, silentLog } from '#core/log.ts';
import { type Bootable, type Machine, openMachine } from './machine.ts';

/** A fake cloud that says which of its machines have changed. */
export interface BootingCloud {
  readonly clock: Clock;
  /** Called with each machine whose states to come have changed. */
  watch(changed: (machine: Bootable) => void): () => void;
}

/** Runs the machines of a fake cloud, one folder each. */
export interface Machines {
  readonly folder: string;
  folderOf(id: string): string;
  /** Ends them all, and deletes the folder if it was made here. */
  close(): Promise<void>;
}

interface Kept {
  readonly bootable: Bootable;
  readonly machine: Machine;
  isOn: boolean;
  /** Someone in it shut it down; it runs again only after its cloud has had it off. */
  isShutDown: boolean;
  /** One change at a time. */
  turn: Promise<void>;
  cancelAlarm: () => void;
}

export interface MachinesOptions {
  readonly folder?: string | undefined;
  readonly log?: Log | undefined;
}

export function openMachines({ clock, watch }: BootingCloud, options: MachinesOptions = {}): Machines {
  const { folder: wanted, log = silentLog } = options;
  const folder = wanted ?? mkdtempSync(join(tmpdir(), 'muster-machines-'));
  mkdirSync(folder, { recursive: true });
  const all = new Map<string, Kept>();
  let isClosed = false;

  async function follow(kept: Kept): Promise<void> {
    const state = kept.bootable.state(clock.now());
    if (state !== 'running') kept.isShutDown = false;
    const shouldRun = state === 'running' && !kept.isShutDown && !isClosed;
    if (shouldRun !== kept.isOn) {
      kept.isOn = shouldRun;
      await (shouldRun ? kept.machine.on() : kept.machine.off());
    }
    if (state !== 'gone') return;
    kept.machine.wipe();
    all.delete(kept.bootable.id);
  }

  /** Looks now, and again when its next state begins. */
  function look(kept: Kept): void {
    kept.cancelAlarm();
    kept.turn = kept.turn
      .then(() => follow(kept))
      .catch((error: unknown) => log('error', 'machine could not start or stop', { machine: kept.bootable.id, error }));
    const nextMs = kept.bootable.nextChangeMs(clock.now());
    if (nextMs !== undefined && !isClosed) kept.cancelAlarm = clock.alarm(nextMs - clock.now(), () => look(kept));
  }

  function keep(bootable: Bootable): Kept {
    const machine = openMachine(bootable, {
      clock,
      folder: join(folder, bootable.id),
      powerOff: () => clock.soon(() => shutDown(kept)),
    });
    const start = { isOn: false, isShutDown: false, turn: Promise.resolve(), cancelAlarm: () => {} };
    const kept: Kept = { bootable, machine, ...start };
    all.set(bootable.id, kept);
    return kept;
  }

  function shutDown(kept: Kept): void {
    kept.isShutDown = true;
    look(kept);
    kept.bootable.poweredOff?.(clock.now());
  }

  const stop = watch((bootable) => look(all.get(bootable.id) ?? keep(bootable)));

  return {
    folder,
    folderOf: (id) => join(folder, id),
    async close() {
      stop();
      isClosed = true;
      for (const kept of all.values()) look(kept);
      await Promise.all([...all.values()].map(({ turn }) => turn));
      if (wanted === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, silentLog } from '#core/log.ts';
import { type Instance, stateAt } from '../ec2/instance.ts';
import type { FakeAws } from '../fake-aws.ts';
import { type Machine, openMachine } from './machine.ts';

/** Lets the instances of an AWS really run, one folder each. */
export interface Machines {
  readonly folder: string;
  folderOf(instanceId: string): string;
  /** Ends them all; a folder that was made here goes too. */
  close(): Promise<void>;
}

interface Kept {
  readonly instance: Instance;
  readonly machine: Machine;
  isOn: boolean;
  /** Changes follow one another, never two at a time. */
  turn: Promise<void>;
  cancelAlarm: () => void;
}

export interface MachinesOptions {
  readonly folder?: string | undefined;
  readonly image?: ((root: string, instance: Instance) => void) | undefined;
  readonly log?: Log | undefined;
}

export function openMachines(fake: FakeAws, options: MachinesOptions = {}): Machines {
  const { folder: wanted, log = silentLog, image = () => {} } = options;
  const { world } = fake;
  const { clock } = world;
  const folder = wanted ?? mkdtempSync(join(tmpdir(), 'muster-aws-'));
  mkdirSync(folder, { recursive: true });
  const all = new Map<string, Kept>();
  let isClosed = false;

  async function settle(kept: Kept): Promise<void> {
    const state = stateAt(kept.instance, clock.now());
    const shouldRun = state === 'running' && !isClosed;
    if (shouldRun !== kept.isOn) {
      kept.isOn = shouldRun;
      await (shouldRun ? kept.machine.on() : kept.machine.off());
    }
    if (state !== 'terminated') return;
    kept.machine.wipe();
    all.delete(kept.instance.id);
  }

  /** Looks now, and again when the next of its states has come. */
  function look(kept: Kept): void {
    kept.cancelAlarm();
    kept.turn = kept.turn
      .then(() => settle(kept))
      .catch((error: unknown) => log('error', 'machine could not change', { instance: kept.instance.id, error }));
    const next = kept.instance.timeline.find(({ atMs }) => atMs > clock.now());
    if (next && !isClosed) kept.cancelAlarm = clock.alarm(next.atMs - clock.now(), () => look(kept));
  }

  function keep(instance: Instance): Kept {
    const machine = openMachine(instance, { world, folder: join(folder, instance.id), image });
    const kept = { instance, machine, isOn: false, turn: Promise.resolve(), cancelAlarm: () => {} };
    all.set(instance.id, kept);
    return kept;
  }

  const stop = fake.watch((instance) => look(all.get(instance.id) ?? keep(instance)));

  return {
    folder,
    folderOf: (instanceId) => join(folder, instanceId),
    async close() {
      stop();
      isClosed = true;
      for (const kept of all.values()) look(kept);
      await Promise.all([...all.values()].map(({ turn }) => turn));
      if (wanted === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

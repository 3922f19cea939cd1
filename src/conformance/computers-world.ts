// What the laws of computers share: a server with its computers on a fake cloud, people who ask again until they are
// heard, and what must be left in the end.
import { inspect } from 'node:util';
import { expect } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Computer, ComputerCaller, ComputerRequest, Computers } from '#core/computer.ts';
import type { FaultKind } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { rowsOn } from '#sim/disk.ts';
import type { SliceCloud, SliceMachine } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld, type SliceWorldOptions } from '#sim/slice/world.ts';
import type { SliceStage, SliceSuite } from './slice-world.ts';
import type { Law } from './suite.ts';

export type ComputerLawId =
  | 'story'
  | 'dropped at writes'
  | 'dropped at calls'
  | 'failing calls'
  | 'late listing'
  | 'refused'
  | 'refused twice'
  | 'late failure'
  | 'time-out'
  | 'hanging cloud'
  | 'vanished'
  | 'stopped outside'
  | 'removal'
  | 'removal with a restart'
  | 'stubborn cloud'
  | 'hundred'
  | 'apart'
  | 'restored'
  | 'time to live'
  | 'without a server'
  | 'credentials'
  | 'late token';

/** How the suite gets at a platform: its fake, and what its users write. */
export interface ComputerSuite extends Omit<SliceSuite, 'excuses'> {
  /** What a user asks for; each computer of a world has another number. */
  request(at: number): Pick<ComputerRequest, 'platform' | 'options' | 'backend'>;
  /** All that the account holds and somebody pays for or trips over: machines, disks, addresses, networks, … */
  held(cloud: SliceCloud): readonly string[];
  /** All that the fake was given and that whoever may look into the account can read. */
  shown(cloud: SliceCloud): readonly string[];
  /** Nothing that is shown holds a credential; absent: at most the token of the one launch. */
  readonly isSealed?: boolean;
  /** What the cloud says to a creation that it refuses, and what the server makes of it. */
  readonly refusals: readonly (readonly [FaultKind, CallFailure])[];
  /** Somebody deletes a machine past the server. */
  vanish(cloud: SliceCloud, machine: SliceMachine): void | Promise<void>;
  /** Somebody stops it; absent where a machine that was stopped is over. */
  stop?(cloud: SliceCloud, machine: SliceMachine): void | Promise<void>;
  /** What a lost call left unfinished is made anew; absent: a launch is taken up where it was. */
  readonly makesAnew?: boolean;
  /** A machine whose time is over is gone, or costs nothing any more, though no server sees to it. */
  readonly endsItself: boolean;
  readonly excuses?: Readonly<Partial<Record<ComputerLawId, string>>>;
}

export type ComputerLaw = Law<ComputerLawId, SliceStage, ComputerSuite & { openWorld(): Promise<SliceStage> }>;

/** A world, what its account held before, and all that its servers have logged, at every level. */
export interface ComputerScene {
  readonly harness: ComputerSuite;
  readonly world: SliceWorld;
  readonly before: readonly string[];
  readonly logged: readonly string[];
}

/** By their prefixes: of launches, of people and of anything that comes. */
export const CREDENTIAL = /\bm[a-z]{1,3}_[\w-]{12,}/g;

/** Longer than a server is down. */
const HEARD_MS = 6 * SECOND_MS;
const MOST_TRIES = 5;

export const callerAt = (at = 0): ComputerCaller => ({
  who: `token:ann${at}`,
  from: '127.0.0.1',
  token: `t-ann${at}`,
  isAdmin: true,
});

export async function openScene(
  harness: ComputerSuite,
  options: SliceWorldOptions & { prepare?(world: SliceWorld): void } = {},
): Promise<ComputerScene> {
  const { prepare, ...rest } = options;
  const logged: string[] = [];
  const log: Log = (level, message, fields) => void logged.push(inspect([level, message, fields], { depth: 10 }));
  const world = await openSliceWorld(harness, { pageSize: 2, log, ...rest });
  const before = harness.held(world.cloud);
  prepare?.(world);
  return { harness, world, before, logged };
}

export const computersIn = ({ world }: ComputerScene): Computers => world.life.features.public.computers as Computers;

/** As a restart would find it. */
export function rowOf({ world }: ComputerScene, name: string): Computer | undefined {
  return [...rowsOn(world.disk, 'computers')].find((one) => one.name === name);
}

export const statusIn = (scene: ComputerScene, name: string): string => computersIn(scene).find(name)?.status ?? 'none';

export const create = (scene: ComputerScene, name: string, more: Partial<ComputerRequest> = {}, at = 0) =>
  computersIn(scene).create({ name, ...scene.harness.request(at), ...more }, callerAt(at));

/** As its users ask for one that must run soon; a backend of one's own has ten minutes. */
export function impatient(harness: ComputerSuite): {
  readonly more: Partial<ComputerRequest>;
  readonly tooLongMs: number;
} {
  const { platform, options } = harness.request(0);
  if (platform === undefined) return { more: {}, tooLongMs: 12 * MINUTE_MS };
  return { more: { options: { ...options, timeout: 60 } }, tooLongMs: 2 * MINUTE_MS };
}

export const remove = (scene: ComputerScene, name: string, at = 0) => computersIn(scene).remove(name, callerAt(at));

/** As people do it whose server dies under their hands. */
async function insist({ world }: ComputerScene, isHeard: () => boolean, ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES && !isHeard(); tries++) {
    ask().catch(() => {});
    await world.clock.advance(HEARD_MS);
  }
}

export const insistOnCreate = (scene: ComputerScene, name: string): Promise<void> =>
  insist(
    scene,
    () => rowOf(scene, name) !== undefined,
    () => create(scene, name),
  );

export async function insistOnRemoval(scene: ComputerScene, name: string): Promise<void> {
  const isHeard = (): boolean => rowOf(scene, name)?.removal !== undefined || rowOf(scene, name) === undefined;
  await insist(scene, isHeard, () => remove(scene, name));
}

/** The machines of computers that exist. */
export const machinesOf = ({ world }: ComputerScene): SliceMachine[] =>
  world.machines().filter(({ mark }) => mark?.use === 'computer');

/** All machines of computers that ever were. */
export const everMade = ({ world: { cloud, disk } }: ComputerScene): SliceMachine[] =>
  cloud.machines().filter(({ mark }) => mark?.use === 'computer' && mark.cluster === disk.cluster);

/** What the account holds that it did not hold before. */
export const heldBy = ({ harness, world, before }: ComputerScene): readonly string[] =>
  harness.held(world.cloud).filter((one) => !before.includes(one));

/** No machine, nothing that was made for one, and no row. */
export function expectNothingLeft(scene: ComputerScene): void {
  const { world } = scene;
  expectNothingHeld(scene);
  const { computers, computerMachines, launches } = world.life.store.view;
  const rows = { computers: computers.size, machines: computerMachines.size, launches: launches.size };
  expect(rows, 'rows in the end').toEqual({ computers: 0, machines: 0, launches: 0 });
  expectNothingTold(scene);
}

/** Whatever went wrong: no credential is in the log of its servers, nor in events, decisions and other history. */
function expectNothingTold({ logged, world: { disk } }: ComputerScene): void {
  expect(logged.length, 'lines in the log of the server').toBeGreaterThan(0);
  expect(logged.join('\n').match(CREDENTIAL), 'in the log of the server').toBeNull();
  expect(JSON.stringify(disk.histories).match(CREDENTIAL), 'in events and history').toBeNull();
}

/** Removes it, and expects that nothing of it is left. */
export async function expectRemoved(scene: ComputerScene, name: string, withinMs: number): Promise<void> {
  await remove(scene, name);
  await scene.world.clock.advance(withinMs);
  expect(statusIn(scene, name), 'its status in the end').toBe('none');
  expectNothingLeft(scene);
}

/** Its machine is not paid for any more, and its rows may still be there. */
export function expectNothingHeld(scene: ComputerScene): void {
  expect(heldBy(scene), 'what the account still holds').toEqual([]);
}

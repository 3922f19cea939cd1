// What all parts of one seeded world share.
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type Disk, emptyDisk } from '#store/memory.ts';
import type { SimCloud } from './backend.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { type EventLog, openEventLog } from './event-log.ts';
import { type FaultDraws, type FaultRates, NO_FAULTS, openFaultDraws } from './faults.ts';
import { type Figures, openFigures } from './figures.ts';
import { type Invariants, openInvariants } from './invariants.ts';

export interface WorldState {
  readonly clock: VirtualClock;
  /** All that a restart of the server finds. */
  readonly disk: Disk;
  readonly draws: FaultDraws;
  /** Nothing ever goes wrong here. */
  readonly isFair: boolean;
  readonly isPlain: boolean;
  readonly regions: Map<string, SimCloud>;
  /** The names of all machines of ours that exist now, in whichever region. */
  readonly existing: Set<string>;
  readonly eventLog: EventLog;
  readonly invariants: Invariants;
  readonly figures: Figures;
  /** A stream of chance of its own for each part: the same for the same seed. */
  chance(stream: Stream, nth?: number): Chance;
}

const STREAMS = {
  agents: 1,
  network: 2,
  load: 3,
  definitions: 4,
  disk: 5,
  pools: 6,
  'random-faults': 7,
  down: 8,
  parking: 9,
  'scheduled-faults': 10,
  // There are as many of these as the world needs.
  region: 100_000,
  life: 200_000,
} as const;
const SEED_STEP = 1_000_003;

export type Stream = keyof typeof STREAMS;

export interface WorldStateOptions {
  readonly seed: number;
  readonly faults?: FaultRates;
  readonly disk?: Disk;
  /** As worlds were before calm spells, parking, notices and takeovers: for seeds that once broke something. */
  readonly isPlain?: boolean;
}

export function openWorldState({
  seed,
  faults = NO_FAULTS,
  disk = emptyDisk(),
  isPlain = false,
}: WorldStateOptions): WorldState {
  const clock = new VirtualClock();
  const eventLog = openEventLog(clock);
  return {
    clock,
    disk,
    draws: openFaultDraws({ clock, rates: faults, hasSpells: !isPlain }),
    isFair: faults === NO_FAULTS,
    isPlain,
    regions: new Map(),
    existing: new Set(),
    eventLog,
    invariants: openInvariants(clock, eventLog),
    figures: openFigures(),
    chance: (stream, nth = 0) => chanceFrom(seededRandom(seed * SEED_STEP + STREAMS[stream] + nth)),
  };
}

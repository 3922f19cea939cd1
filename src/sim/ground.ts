// What every part of one simulated world stands on.
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type Disk, emptyDisk } from '#store/memory.ts';
import type { SimCloud } from './backend.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { type FaultDraws, type FaultRates, NO_FAULTS, openFaultDraws } from './faults.ts';
import { type Figures, openFigures } from './figures.ts';
import { type Happenings, openHappenings } from './happenings.ts';
import { type Invariants, openInvariants } from './invariants.ts';

export interface Ground {
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
  readonly happenings: Happenings;
  readonly invariants: Invariants;
  readonly figures: Figures;
  /** A stream of chance of its own for each part: the same for the same seed. */
  chance(stream: Stream, nth?: number): Chance;
}

const STREAMS = {
  ...{
    agents: 1,
    network: 2,
    load: 3,
    definitions: 4,
    disk: 5,
    pools: 6,
    'timed-faults': 7,
    down: 8,
    parking: 9,
    arranged: 10,
  },
} as const;
// There are as many of these as the world needs.
const MANY = { region: 100_000, life: 200_000 } as const;
const SEED_STEP = 1_000_003;

export type Stream = keyof typeof STREAMS | keyof typeof MANY;

const numberOf = (stream: Stream): number => (stream in STREAMS ? STREAMS[stream as 'agents'] : MANY[stream as 'life']);

export interface GroundOptions {
  readonly seed: number;
  readonly faults?: FaultRates;
  readonly disk?: Disk;
  /** As worlds were before calm spells, parking, notices and takeovers: for seeds that once broke something. */
  readonly isPlain?: boolean;
}

export function openGround({ seed, faults = NO_FAULTS, disk = emptyDisk(), isPlain = false }: GroundOptions): Ground {
  const clock = new VirtualClock();
  const happenings = openHappenings(clock);
  return {
    clock,
    disk,
    draws: openFaultDraws({ clock, rates: faults, hasSpells: !isPlain }),
    isFair: faults === NO_FAULTS,
    isPlain,
    regions: new Map(),
    existing: new Set(),
    happenings,
    invariants: openInvariants(clock, happenings),
    figures: openFigures(),
    chance: (stream, nth = 0) => chanceFrom(seededRandom(seed * SEED_STEP + numberOf(stream) + nth)),
  };
}

import type { Measure } from './measures.ts';

/** Who takes part in a load: each agent with so many slots, each caller with one connection that it keeps. */
export interface Fleet {
  readonly name: (typeof NAMES)[number];
  readonly agents: number;
  readonly slots: number;
  readonly callers: number;
}

// Agents × slots each, then callers. One slot is what an agent has unless someone says more.
const NAMES = ['10x1-10', '100x1-64', '1000x1-64', '100x100-64'] as const;

function fleetNamed(name: Fleet['name']): Fleet {
  const [agents = 0, slots = 0, callers = 0] = name.split(/[x-]/).map(Number);
  return { name, agents, slots, callers };
}

export const FLEETS: readonly Fleet[] = NAMES.map(fleetNamed);

/** The one that is also asked for lists, at half its rate, and on PostgreSQL. */
export const MAIN_FLEET = FLEETS.find(({ name }) => name === '100x1-64') as Fleet;

type PerFleet = 'session-cpu' | 'session-rate' | 'session-delay-p50' | 'session-delay-p99';

const SESSION = 'machine-session';
const CPU_GOAL_US = 200;
const DELAY_GOAL_MS = 20;
const RATE_GOAL = 5_000;

function measuresOf(fleet: Fleet): Record<string, Measure> {
  const { name, agents, slots, callers } = fleet;
  const who = `${agents} agents of ${slots === 1 ? '1 slot' : `${slots} slots`}, ${callers} callers`;
  const isMain = fleet === MAIN_FLEET;
  return {
    [`session-cpu-${name}`]: {
      what: `processor time of the server for one session, one a POST: ${who}`,
      unit: 'µs',
      ...(slots === 1 && { atMost: CPU_GOAL_US, against: SESSION }),
    },
    [`session-rate-${name}`]: {
      what: 'the same fleet: sessions accepted, placed, sent to agents and ended',
      unit: '/s',
      ...(isMain && { atLeast: RATE_GOAL, against: SESSION }),
    },
    [`session-delay-p50-${name}`]: { what: 'the same fleet: request to agent', unit: 'ms' },
    [`session-delay-p99-${name}`]: {
      what: 'the same',
      unit: 'ms',
      ...(isMain && { atMost: DELAY_GOAL_MS, against: 'machine-wait' as const }),
    },
  };
}

const LISTS = {
  'session-delay-half-p50': { what: 'request to agent at half the rate of 100x1-64', unit: 'ms' },
  'session-delay-half-p99': { what: 'the same', unit: 'ms' },
  'session-rate-list-10': { what: '100x1-64 with lists of 10', unit: '/s', atLeast: RATE_GOAL, against: SESSION },
  'session-cpu-list-10': { what: 'the same: processor time of the server for one session', unit: 'µs' },
  'session-rate-list-100': { what: '100x1-64 with lists of 100', unit: '/s', atLeast: RATE_GOAL, against: SESSION },
  'session-cpu-list-100': { what: 'the same: processor time of the server for one session', unit: 'µs' },
} satisfies Record<string, Measure>;

export type SessionMeasureName = `${PerFleet}-${Fleet['name']}` | keyof typeof LISTS;

/** Durable sessions of agents that answer at once; one slot an agent first. */
export const SESSION_MEASURES = {
  ...Object.assign({}, ...FLEETS.map(measuresOf)),
  ...LISTS,
} as Record<SessionMeasureName, Measure>;

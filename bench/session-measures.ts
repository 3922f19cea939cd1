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
// 1.3 times what the first version with fastify and grpc-js took; the server of the original takes 8,500.
const CPU_GOALS_US: Readonly<Partial<Record<Fleet['name'], number>>> = { '10x1-10': 416, '100x1-64': 306 };
const LIST_CPU_GOAL_US = 70;

function measuresOf(fleet: Fleet): Record<string, Measure> {
  const { name, agents, slots, callers } = fleet;
  const who = `${agents} agents of ${slots === 1 ? '1 slot' : `${slots} slots`}, ${callers} callers`;
  const goalUs = CPU_GOALS_US[name];
  return {
    [`session-cpu-${name}`]: {
      what: `processor time of the server for one session, one a POST: ${who}`,
      unit: 'µs',
      ...(goalUs !== undefined && { atMost: goalUs, against: SESSION }),
    },
    [`session-rate-${name}`]: {
      what: 'the same fleet: sessions accepted, placed, sent to agents and ended',
      unit: '/s',
    },
    [`session-delay-p50-${name}`]: { what: 'the same fleet: request to agent', unit: 'ms' },
    [`session-delay-p99-${name}`]: { what: 'the same', unit: 'ms' },
  };
}

const LISTS = {
  'session-delay-half-p50': { what: 'request to agent at half the rate of 100x1-64', unit: 'ms' },
  'session-delay-half-p99': { what: 'the same', unit: 'ms' },
  'session-rate-list-10': { what: '100x1-64 with lists of 10', unit: '/s' },
  'session-cpu-list-10': { what: 'the same: processor time of the server for one session', unit: 'µs' },
  'session-rate-list-100': { what: '100x1-64 with lists of 100', unit: '/s' },
  'session-cpu-list-100': {
    what: 'the same: processor time of the server for one session',
    unit: 'µs',
    atMost: LIST_CPU_GOAL_US,
    against: SESSION,
  },
} satisfies Record<string, Measure>;

export type SessionMeasureName = `${PerFleet}-${Fleet['name']}` | keyof typeof LISTS;

/** Durable sessions of agents that answer at once; one slot an agent first. */
export const SESSION_MEASURES = {
  ...Object.assign({}, ...FLEETS.map(measuresOf)),
  ...LISTS,
} as Record<SessionMeasureName, Measure>;

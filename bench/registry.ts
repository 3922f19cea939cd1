import { agents } from './agents.ts';
import type { Bench } from './bench.ts';
import { decisions } from './decisions.ts';
import { launches } from './launches.ts';
import { memory } from './memory.ts';
import { offers } from './offers.ts';
import { parameters } from './parameters.ts';
import { placements } from './placements.ts';
import { restart } from './restart.ts';
import { rows } from './rows.ts';
import { sessions } from './sessions.ts';
import { simulatedDay } from './simulated-day.ts';
import { start } from './start.ts';
import { takeover } from './takeover.ts';
import { warmSessions } from './warm-sessions.ts';

/** Everything that is measured, in the order of running. */
export const BENCHES: readonly Bench[] = [
  decisions,
  placements,
  sessions,
  warmSessions,
  memory,
  agents,
  offers,
  launches,
  parameters,
  restart,
  takeover,
  simulatedDay,
  start,
  rows,
];

// Many agents, each with a connection of its own. They run nothing: every session starts and ends at once.
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import { parseBrokerAddress } from '../../src/agent/address.ts';
import { type Connection, openConnection } from '../../src/agent/connection.ts';
import { openLine } from '../../src/agent/dial.ts';
import { helloOf } from '../../src/agent/hello.ts';
import { sinceMs } from './moments.ts';

export interface Joining {
  readonly address: string;
  readonly ca?: string | undefined;
  readonly pool: string;
  readonly count: number;
  readonly slots: number;
}

export interface Heard {
  /** Sessions that they were asked to start. */
  readonly started: number;
  /** From the time that stands in each session's command, in milliseconds. */
  readonly delaysMs: Float64Array;
}

const MOST_DELAYS = 400_000;
const AT_A_TIME = 50;

/** They connect as agents do; `heard` gets the time that stands in the command of each session when an agent has it. */
export function openAgents(heard: (moment: string) => void = () => {}) {
  const delaysMs = new Float64Array(MOST_DELAYS);
  let started = 0;
  let joined = 0;

  function open({ address, ca, pool, slots }: Joining): Promise<void> {
    const name = `agent-${process.pid}-${++joined}`;
    const self = { name, hostname: name, address: '127.0.0.1', pool, slots, labels: {}, version: 'bench' };
    return new Promise((resolve, reject) => {
      const connection: Connection = openConnection({
        line: openLine(parseBrokerAddress(address, ca !== undefined), { ca }),
        firstAnswerMs: 20_000,
        headers: { 'x-muster-agent-key': name },
        hello: helloOf(self, { executions: [], tasks: new Map(), isDraining: false }),
        tasks: new Map(),
        clock: systemClock,
        log: silentLog,
        accepted: () => resolve(),
        obey(command) {
          if (command.do !== 'start') return;
          const { session, attempt, spec } = command;
          const moment = spec.command[1] ?? '0';
          if (started < MOST_DELAYS) delaysMs[started] = sinceMs(moment);
          started += 1;
          connection.report({ is: 'started', session, attempt });
          connection.report({ is: 'ended', session, attempt, lastSeq: 0, how: 'exited', exitCode: 0 });
          heard(moment);
        },
        ended: ({ code, details }) => reject(new Fault('unavailable', `${name} was sent away: ${code} ${details}`)),
      });
    });
  }

  return {
    async join(joining: Joining): Promise<void> {
      for (let n = 0; n < joining.count; n += AT_A_TIME) {
        await Promise.all(Array.from({ length: Math.min(AT_A_TIME, joining.count - n) }, () => open(joining)));
      }
    },
    /** Forgets what they heard before. */
    take(): Heard {
      const taken = { started, delaysMs: delaysMs.slice(0, Math.min(started, MOST_DELAYS)) };
      started = 0;
      return taken;
    },
  };
}

// Processes that die at one point of a run: at a call to the cluster or at a commit. Nothing they do later has any effect.
import { type Clock, sleepOn } from '#core/clock.ts';
import type { Driver } from '#store/driver.ts';

/** `before` and `after`: the process dies there. `lost`: it lives, and its call is not answered. */
export type FailureRule = 'before' | 'after' | 'lost';

/** Which call or commit, counted from 1 over the whole run. */
export interface Point {
  readonly at: 'call' | 'commit';
  readonly nth: number;
  readonly failureRule: FailureRule;
}

export interface MadeCall {
  readonly name: string;
  /** Whether it may change something. */
  readonly isWrite: boolean;
}

/** What one process may use of the world. */
export interface Mortal {
  isDead(): boolean;
  clock(clock: Clock): Clock;
  fetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch;
  driver(driver: Driver): Driver;
}

export interface Fate {
  readonly calls: MadeCall[];
  commits: number;
  deaths: number;
  /** Another process. */
  mortal(): Mortal;
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

export function openFate(point: Point | undefined): Fate {
  const struck = (at: Point['at'], nth: number): FailureRule | undefined =>
    point?.at === at && point.nth === nth ? point.failureRule : undefined;

  function mortal(): Mortal {
    let isDead = false;

    function clockOf(clock: Clock): Clock {
      const living = (run: () => void) => (): void => {
        if (!isDead) run();
      };
      const own: Clock = {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        alarm: (ms, ring) => clock.alarm(ms, living(ring)),
        soon: (run) => clock.soon(living(run)),
        sleep: (ms, signal) => sleepOn(own, ms, signal),
      };
      return own;
    }

    function die<T>(): Promise<T> {
      isDead = true;
      fate.deaths += 1;
      return never();
    }

    /** Carries it out, unless the process dies before; what a dead process waits for never comes. */
    async function through<T>(failureRule: FailureRule | undefined, carryOut: () => Promise<T>): Promise<T> {
      if (isDead) return never();
      if (failureRule === 'before') return die();
      const done = await carryOut();
      if (failureRule === 'after') return die();
      return isDead ? never() : done;
    }

    return {
      isDead: () => isDead,
      clock: clockOf,
      fetch: (fetch) => async (input, init) => {
        if (isDead) return never();
        const name = `${init?.method ?? 'GET'} ${String(input).replace('http://cluster.test', '')}`;
        fate.calls.push({ name, isWrite: !name.startsWith('GET') && !name.includes('dryRun=') });
        const failureRule = struck('call', fate.calls.length);
        const answer = await through(failureRule, () => fetch(input, init));
        if (failureRule === 'lost') throw new TypeError('fetch failed', { cause: new Error('socket hang up') });
        return answer;
      },
      driver: (driver) => ({
        ...driver,
        write(changes) {
          if (!isDead) fate.commits += 1;
          return through(struck('commit', fate.commits), () => driver.write(changes));
        },
      }),
    };
  }

  const fate: Fate = { calls: [], commits: 0, deaths: 0, mortal };
  return fate;
}

// Processes that die at one point of a run: at a call to the outside or at a commit. Nothing they do later has any effect.
import { type Clock, sleepOn } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
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
  /** A call that is no fetch. */
  call<T>(made: MadeCall, carryOut: () => Promise<T>): Promise<T>;
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

    async function call<T>(made: MadeCall, carryOut: () => Promise<T>, lost: () => Error): Promise<T> {
      if (isDead) return never();
      fate.calls.push(made);
      const failureRule = struck('call', fate.calls.length);
      const answer = await through(failureRule, carryOut);
      if (failureRule === 'lost') throw lost();
      return answer;
    }

    return {
      isDead: () => isDead,
      clock: clockOf,
      fetch: (fetch) => (input, init) => {
        const name = `${init?.method ?? 'GET'} ${String(input).replace('http://cluster.test', '')}`;
        const made = { name, isWrite: !name.startsWith('GET') && !name.includes('dryRun=') };
        const lost = (): Error => new TypeError('fetch failed', { cause: new Error('socket hang up') });
        return call(made, () => fetch(input, init), lost);
      },
      call: (made, carryOut) => call(made, carryOut, () => new Fault('unavailable', 'The answer was lost.')),
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

/**
 * Every point of a run that can matter. A read leaves nothing behind: dying at one is dying after the write or the commit
 * before it. Each kind of read goes unanswered once.
 */
export function* pointsOf({ calls, commits }: Fate): Iterable<Point> {
  yield { at: 'call', nth: 1, failureRule: 'before' };
  yield { at: 'commit', nth: 1, failureRule: 'before' };
  for (const [at, { name, isWrite }] of calls.entries()) {
    const nth = at + 1;
    if (isWrite) yield { at: 'call', nth, failureRule: 'after' };
    if (isWrite || calls.findIndex((one) => one.name === name) === at) yield { at: 'call', nth, failureRule: 'lost' };
  }
  for (let nth = 1; nth <= commits; nth++) yield { at: 'commit', nth, failureRule: 'after' };
}

// What every class of this library is, also those that users write themselves.
import { waitAfterRefusalMs } from '#computers/machine-owner.ts';
import { type Clock, SECOND_MS, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Random, systemRandom } from '#core/random.ts';
import { TimeoutError } from './timeout-error.ts';

/** The states of a computer, in the words of all classes. */
export type ComputerState = 'not_started' | 'starting' | 'running' | 'stopping' | 'stopped' | 'error';

/** Where log lines go: `console` is one. */
export interface ComputerLog {
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** What the patterns of the base class go by. */
export interface Patterns {
  /** How many attempts `retry` makes; 3 unless given. */
  readonly maxRetries?: number | undefined;
  /** Seconds that `waitUntilRunning` waits; 300 unless given. */
  readonly timeout?: number | undefined;
  /** Absent: nothing is logged. */
  readonly log?: ComputerLog | undefined;
}

const ASK_EVERY_MS = 5 * SECOND_MS;
const NEEDED = ['setup', 'teardown', 'isRunning'] as const;

/** One computer environment: it is set up, watched and torn down. Extend it for a platform of your own. */
export abstract class BaseComputerProvisioner {
  /** The port that the computer serves. */
  readonly port: number;
  readonly maxRetries: number;
  /** In seconds. */
  readonly timeout: number;
  /** What `getStatus` answers. */
  protected _status: ComputerState = 'not_started';
  readonly #log: ComputerLog | undefined;

  constructor(port = 8000, { maxRetries = 3, timeout = 300, log }: Patterns = {}) {
    // JavaScript does not refuse a class that lacks an abstract method.
    const lacks = NEEDED.filter((name) => typeof (this as Partial<BaseComputerProvisioner>)[name] !== 'function');
    if (lacks.length > 0) {
      const message = `${new.target.name} has no ${lacks.join(', ')}.`;
      throw new Fault('invalid', message, { remedy: `Implement ${NEEDED.join(', ')}.` });
    }
    this.port = port;
    this.maxRetries = maxRetries;
    this.timeout = timeout;
    this.#log = log;
  }

  /** Sets the computer environment up. */
  abstract setup(): Promise<void> | void;

  /** Removes everything that was set up. */
  abstract teardown(): Promise<void> | void;

  /** Whether the environment runs. */
  abstract isRunning(): Promise<boolean> | boolean;

  /** The state that the last operation has left or has reached so far. */
  getStatus(): ComputerState {
    return this._status;
  }

  /** Logs a line under the name of the class. */
  protected log(level: keyof ComputerLog, line: string): void {
    this.#log?.[level](`${this.constructor.name}: ${line}`);
  }

  /**
   * Runs an attempt until one succeeds, at most `maxRetries` times, 2, 4, 8 … seconds apart. After the last one the status
   * is `error`, and what it threw is thrown.
   */
  protected async retry<T>(attempt: () => Promise<T> | T): Promise<T> {
    for (let count = 1; ; count++) {
      try {
        return await attempt();
      } catch (thrown) {
        const { message } = thrown instanceof Error ? thrown : new Error(String(thrown));
        if (count >= this.maxRetries) {
          this._status = 'error';
          this.log('error', `Failed after ${count} attempts: ${message}`);
          throw thrown;
        }
        this.log('warn', `Error, retrying (${count}/${this.maxRetries}): ${message}`);
        await this.clock().sleep(waitAfterRefusalMs(count, this.random().next()));
      }
    }
  }

  /** Asks `isRunning` every 5 seconds until it answers yes; throws a `TimeoutError` after `timeout` seconds. */
  protected async waitUntilRunning(): Promise<void> {
    const clock = this.clock();
    const untilMs = clock.monotonic() + this.timeout * SECOND_MS;
    while (clock.monotonic() < untilMs) {
      if (await this.isRunning()) return;
      await clock.sleep(Math.min(ASK_EVERY_MS, untilMs - clock.monotonic()));
    }
    this._status = 'error';
    const timedOut = new TimeoutError();
    throw timedOut;
  }

  /** @internal */
  protected clock(): Clock {
    return systemClock;
  }

  /** @internal */
  protected random(): Random {
    return systemRandom;
  }
}

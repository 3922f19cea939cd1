import { describe, expect, it } from 'vitest';
import type { Clock } from '#core/clock.ts';
import { type Random, seededRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { BaseComputerProvisioner, type ComputerLog } from './base.ts';
import { TimeoutError } from './timeout-error.ts';

/** As the guide of the original has it, in TypeScript. */
class MyCustomProvisioner extends BaseComputerProvisioner {
  readonly customParam: string;

  constructor(port = 8000, customParam = 'default') {
    super(port);
    this.customParam = customParam;
    this._status = 'not_started';
  }

  setup(): void {
    this._status = 'starting';
    this._status = 'running';
  }

  teardown(): void {
    this._status = 'stopping';
    this._status = 'stopped';
  }

  isRunning(): boolean {
    return true;
  }
}

class OnClock extends BaseComputerProvisioner {
  readonly times: number[] = [];
  readonly lines: string[] = [];
  readonly #clock: VirtualClock;
  #refusals: number;
  isUp = true;
  asked = 0;

  constructor(clock: VirtualClock, { refusals = 0, timeout = 300 } = {}) {
    const lines: string[] = [];
    const say = (level: string) => (line: string) => void lines.push(`${level} ${line}`);
    const log: ComputerLog = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
    super(9000, { timeout, log });
    this.lines = lines;
    this.#clock = clock;
    this.#refusals = refusals;
  }

  async setup(): Promise<void> {
    this._status = 'starting';
    await this.retry(() => {
      this.times.push(this.#clock.monotonic());
      if (this.#refusals-- > 0) throw new Error('no room');
    });
    await this.waitUntilRunning();
    this._status = 'running';
  }

  teardown(): void {
    this._status = 'stopped';
  }

  isRunning(): boolean {
    this.asked += 1;
    return this.isUp;
  }

  protected override clock(): Clock {
    return this.#clock;
  }

  protected override random(): Random {
    return { ...seededRandom(1), next: () => 0 };
  }
}

describe('the base class of computers', () => {
  it('has port 8000 unless one is given, and is not started at first', () => {
    expect(new MyCustomProvisioner().port).toBe(8000);
    expect(new OnClock(new VirtualClock()).port).toBe(9000);
    expect(new OnClock(new VirtualClock()).getStatus()).toBe('not_started');
  });

  it.each(['setup', 'teardown', 'isRunning'])('refuses an object of a class without %s', (missing) => {
    class Partly extends MyCustomProvisioner {}
    Object.defineProperty(Partly.prototype, missing, { value: undefined });
    expect(() => new Partly()).toThrow(`Partly has no ${missing}.`);
  });

  it('takes the example: parameters with defaults, a status that the subclass sets', () => {
    const computer = new MyCustomProvisioner();
    expect(computer).toMatchObject({ port: 8000, customParam: 'default', maxRetries: 3, timeout: 300 });
    const states = [computer.getStatus()];
    computer.setup();
    states.push(computer.getStatus());
    computer.teardown();
    states.push(computer.getStatus());
    expect(states).toEqual(['not_started', 'running', 'stopped']);
  });

  it('retries after 2 and 4 seconds, with a warning before each', async () => {
    const clock = new VirtualClock();
    const computer = new OnClock(clock, { refusals: 2 });
    const startMs = clock.monotonic();

    await during(clock, computer.setup());

    expect(computer.times.map((at) => at - startMs)).toEqual([0, 2_000, 6_000]);
    expect(computer.lines).toEqual([
      'warn OnClock: Error, retrying (1/3): no room',
      'warn OnClock: Error, retrying (2/3): no room',
    ]);
    expect(computer.getStatus()).toBe('running');
  });

  it('throws what the last attempt threw, logs it, and has the status error', async () => {
    const clock = new VirtualClock();
    const computer = new OnClock(clock, { refusals: 9 });

    await expect(during(clock, computer.setup())).rejects.toThrow('no room');

    expect(computer.times).toHaveLength(3);
    expect(computer.lines.at(-1)).toBe('error OnClock: Failed after 3 attempts: no room');
    expect(computer.getStatus()).toBe('error');
  });

  it('asks every 5 seconds whether it runs, and times out', async () => {
    const clock = new VirtualClock();
    const computer = new OnClock(clock, { timeout: 60 });
    computer.isUp = false;

    const failure = await during(clock, computer.setup()).catch((thrown) => thrown);

    expect(failure).toBeInstanceOf(TimeoutError);
    expect(failure).toMatchObject({ name: 'TimeoutError', message: 'Operation timed out' });
    expect(computer.asked).toBe(12);
    expect(computer.getStatus()).toBe('error');
  });
});

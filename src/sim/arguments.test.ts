import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { readArguments } from './arguments.ts';
import { FAULT_RATES, NO_FAULTS, onlyFaults } from './faults.ts';

function refused(...args: string[]): Fault {
  try {
    readArguments(args);
  } catch (thrown) {
    return Fault.from(thrown);
  }
  throw new Fault('internal', 'It was accepted.');
}

describe('the arguments of the simulator', () => {
  it('have defaults: one day of twenty pools in which everything goes wrong', () => {
    expect(readArguments([])).toEqual({
      seed: 1,
      runs: 1,
      hours: 24,
      pools: 20,
      sessionsPerPoolHour: 20,
      faults: FAULT_RATES,
      replaysAll: false,
      isHelp: false,
    });
  });

  it('name what goes wrong: everything, nothing, or only some', () => {
    expect(readArguments(['--faults', 'none']).faults).toBe(NO_FAULTS);
    expect(readArguments(['--faults', 'crash, lost-reply']).faults).toEqual(onlyFaults('crash', 'lost-reply'));
  });

  it('are refused with the option and what may stand there', () => {
    expect(refused('--faults', 'crash,meteor')).toMatchObject({ kind: 'invalid', at: '--faults' });
    expect(refused('--faults', 'meteor').remedy).toContain('lost-reply');
    expect(refused('--seed', 'x')).toMatchObject({ at: '--seed', message: '"x" is not a number of at least 0.' });
    expect(refused('--pools', '1.5')).toMatchObject({ at: '--pools', message: '"1.5" is not a whole number.' });
    expect(refused('--hours=-1')).toMatchObject({ at: '--hours' });
    expect(refused('--speed', '9')).toMatchObject({ kind: 'invalid' });
  });
});

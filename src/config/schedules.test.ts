import { describe, expect, it } from 'vitest';
import { readPool } from './pool-document.ts';
import { describeProblem } from './problem.ts';
import { standInKinds } from './testing.ts';
import { nodeOf } from './tree.ts';
import { mustReadBack, writePool } from './write-pool.ts';

const kinds = standInKinds.backends;
const OFFICE = { days: 'mon-fri', from: '08:00', to: '18:00', timezone: 'Europe/Berlin' };
const SCALER = {
  backend: { aws_launch_template: { instance_type: 'a' } },
  max_agents: 20,
  max_idle_agents: 15,
  idle_decay: '5m',
};
const read = (scaler: object) =>
  readPool(nodeOf({ name: 'gpu', auto_scaler: { ...SCALER, ...scaler } }), { kinds, trust: 'foreign' });
const problems = (scaler: object) => read(scaler).problems?.map((problem) => describeProblem(problem));
const warnings = (scaler: object) => read(scaler).warnings.map((problem) => describeProblem(problem));
const inWindow = (window: object) => problems({ schedules: [{ ...OFFICE, min_idle_agents: 2, ...window }] });

describe('schedules of a pool document', () => {
  it('are read in the forms that people write, and written back', () => {
    const { spec } = read({
      schedules: [
        { ...OFFICE, min_idle_agents: 10, max_agents: 60 },
        { days: ['Sat', 'sunday'], from: '22:00', to: '06:00', min_agents: 1 },
      ],
    });

    expect(spec?.schedules).toEqual([
      { ...OFFICE, minIdleAgents: 10, maxAgents: 60 },
      { days: 'sat,sun', from: '22:00', to: '06:00', timezone: 'UTC', minAgents: 1 },
    ]);
    if (!spec) throw new Error('it was refused');
    expect(writePool(spec, { kinds }).document).toMatchObject({
      auto_scaler: { schedules: [{ ...OFFICE, min_idle_agents: 10, max_agents: 60 }, { days: 'sat,sun' }] },
    });
    expect(() => mustReadBack(spec, kinds)).not.toThrow();
  });

  it.each([
    [{ days: 'mon-fry' }, 'auto_scaler.schedules[0].days: has "fry", which is no day; did you mean fri?'],
    [{ days: 'mon-wed-fri' }, 'auto_scaler.schedules[0].days: has "mon-wed-fri", which is no range'],
    [
      { timezone: 'Europe/Berlln' },
      'auto_scaler.schedules[0].timezone: is not a known time zone; did you mean Europe/Berlin?',
    ],
    [
      { timezone: 'berlin' },
      'auto_scaler.schedules[0].timezone: is not a known time zone; did you mean Europe/Berlin?',
    ],
    [{ from: '8:00' }, 'auto_scaler.schedules[0].from: must be a time like "08:00"'],
    [{ from: '24:00' }, 'auto_scaler.schedules[0].from: must be a time like "08:00"'],
    [{ to: '24:30' }, 'auto_scaler.schedules[0].to: must be a time like "18:00"'],
    [{ to: '08:00' }, 'auto_scaler.schedules[0].to: is the same as from'],
    [{ min_agents: 21 }, 'auto_scaler.schedules[0].min_agents: is 21, above max_agents 20'],
    [
      { min_idle_agnets: 1 },
      'auto_scaler.schedules[0].min_idle_agnets: is not a known key; did you mean min_idle_agents?',
    ],
  ])('are refused with %j, at the place and with the nearest word', (window, message) => {
    expect(inWindow(window)).toEqual([expect.stringContaining(message)]);
  });

  it('are warned of where a window never differs from the pool, or launches a worker for each session', () => {
    expect(warnings({ schedules: [{ ...OFFICE, max_agents: 20 }] })).toEqual([
      expect.stringContaining('auto_scaler.schedules[0]: (mon-fri 08:00-18:00 Europe/Berlin) has no effect'),
    ]);
    expect(warnings({ schedules: [{ ...OFFICE, min_idle_agents: 15 }] })).toEqual([
      expect.stringContaining('keeps 15 idle, and max_idle_agents 15 allows no further worker'),
    ]);
    expect(warnings({ schedules: [{ ...OFFICE, min_idle_agents: 14 }] })).toEqual([]);
  });
});

describe('the wait target of a pool document', () => {
  const target = { p95: '5s', max_idle_agents: 20 };

  it('is read and written back', () => {
    const { spec } = read({ wait_target: target });

    expect(spec?.waitTarget).toEqual({ p95Ms: 5_000, maxIdleSlots: 20 });
    if (!spec) throw new Error('it was refused');
    expect(writePool(spec, { kinds }).document).toMatchObject({ auto_scaler: { wait_target: target } });
    expect(() => mustReadBack(spec, kinds)).not.toThrow();
  });

  it('is refused beside min_idle_agents, and without any idle slot', () => {
    expect(problems({ wait_target: target, min_idle_agents: 1 })).toEqual([
      expect.stringContaining('auto_scaler.wait_target: stands beside min_idle_agents; keep one of them'),
    ]);
    expect(problems({ wait_target: { ...target, max_idle_agents: 0 } })).toEqual([
      expect.stringContaining('auto_scaler.wait_target.max_idle_agents: must be at least 1'),
    ]);
  });

  it('is warned of where each session would launch a worker', () => {
    expect(warnings({ wait_target: target, idle_decay: '0s', max_idle_agents: 0 })).toEqual([
      expect.stringContaining('needs idle_decay'),
    ]);
  });
});

import { expect, it } from 'vitest';
import { z } from 'zod';
import { autoPool, autoscalerFields, poolName } from './auto-pool.ts';
import { duration } from './schema.ts';

const BACKEND = {
  kind: 'someCloud',
  fields: { size: z.string(), lifetime: duration().prefault('0s'), zone: z.string().optional() },
  config: { size: 'large', lifetime: 3_600_000, zone: undefined },
};
const POOL = { key: 'large', name: 'c-large', description: 'large in a', backend: BACKEND };
const scalerOf = (more: object = {}) => {
  const { backend, ...scaling } = (
    JSON.parse(autoPool({ ...POOL, ...more }).text) as { autoScaler: { backend: object } }
  ).autoScaler;
  return { backend, scaling };
};

it('has ten workers at most, one idle and a minute of decay by default', () => {
  expect(scalerOf().scaling).toEqual({ maxAgents: 10, minAgents: 0, maxIdleAgents: 1, idleDecay: '60000ms' });
});

it('takes the settings of the pool over those of the source over the defaults', () => {
  const shared = { maxAgents: 20, idleDecay: 5_000, minIdleAgents: undefined };

  expect(scalerOf({ shared, own: { maxAgents: 3, minAgents: undefined } }).scaling).toEqual({
    maxAgents: 3,
    minAgents: 0,
    maxIdleAgents: 1,
    idleDecay: '5000ms',
  });
});

it('writes durations with their unit, and leaves out what is not set', () => {
  expect(scalerOf().backend).toEqual({ someCloud: { size: 'large', lifetime: '3600000ms' } });
});

it('writes windows and wait target as a document has them', () => {
  const parsed = z.strictObject(autoscalerFields).parse({
    schedules: [{ days: ['Monday', 'sat-sun'], from: '08:00', to: '24:00', minIdleAgents: 2 }],
    waitTarget: { p95: '1m30s', maxIdleAgents: 4 },
  });

  expect(scalerOf({ shared: parsed }).scaling).toMatchObject({
    schedules: [{ days: 'mon,sat-sun', from: '08:00', to: '24:00', timezone: 'UTC', minIdleAgents: 2 }],
    waitTarget: { p95: '90000ms', maxIdleAgents: 4 },
  });
});

it('has the same version as long as it says the same', () => {
  const version = (more: object) => autoPool({ ...POOL, ...more }).version;

  expect(version({})).toBe(version({ shared: {} }));
  expect(version({})).not.toBe(version({ own: { maxAgents: 3 } }));
  expect(version({})).toMatch(/^[0-9a-f]{16}$/);
});

it('hides no setting of the source behind a default of the pool', () => {
  expect(z.strictObject(autoscalerFields).parse({})).toEqual({});
});

it.each([
  ['aws', 'aws-p3.2xlarge'],
  ['aws-', 'aws-p3.2xlarge'],
  ['team/', 'team/p3.2xlarge'],
  ['', 'p3.2xlarge'],
])('joins the prefix %j as %s', (prefix, name) => {
  expect(poolName(prefix, 'p3.2xlarge')).toBe(name);
});

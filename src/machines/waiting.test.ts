import { expect, it } from 'vitest';
import type { Listing } from '#clouds/listing.ts';
import type { MachineRow } from '#core/machine.ts';
import type { Machine } from '#core/provider.ts';
import { hasChanged } from './waiting.ts';

const machine = (change: Partial<Machine> = {}): Machine => ({
  name: 'a',
  mark: undefined,
  createdAt: 0,
  state: 'running',
  ...change,
});

const listing = (machines: readonly Machine[], before: readonly Machine[] | undefined): Listing => ({
  cloud: 'here',
  startedMs: 2,
  endedAt: 2,
  count: 2,
  machines: new Map(machines.map((each) => [each.name, each])),
  before: before && { startedMs: 1, machines: new Map(before.map((each) => [each.name, each])) },
});

const row: MachineRow = { id: 'w', machine: 'a', offer: 'offer', askedAt: 0 };
const isNews = (now: readonly Machine[], before: readonly Machine[] | undefined, cloud = 'here'): boolean =>
  hasChanged(listing(now, before), [row], () => cloud);

it('tells no news of a machine that its cloud shows as before', () => {
  expect(isNews([machine()], [machine()])).toBe(false);
  const trouble = { kind: 'exhausted', message: 'no room', final: false } as const;
  expect(isNews([machine({ trouble })], [machine({ trouble: { ...trouble } })])).toBe(false);
});

it('tells of a machine that appears, vanishes, changes its state, or has other trouble', () => {
  const trouble = { kind: 'exhausted', message: 'no room', final: false } as const;
  expect(isNews([machine()], [])).toBe(true);
  expect(isNews([machine()], undefined)).toBe(true);
  expect(isNews([], [machine()])).toBe(true);
  expect(isNews([], [])).toBe(true);
  expect(isNews([machine({ state: 'suspended' })], [machine()])).toBe(true);
  expect(isNews([machine({ trouble })], [machine()])).toBe(true);
  expect(isNews([machine({ trouble: { ...trouble, final: true } })], [machine({ trouble })])).toBe(true);
});

it('tells no news of a machine that starts, or of one that is removed and being deleted', () => {
  expect(isNews([machine()], [machine({ state: 'creating' })])).toBe(false);
  const removed = { ...row, removal: { at: 1, why: 'idle' } };
  const isNewsOfRemoved = (now: readonly Machine[]): boolean =>
    hasChanged(listing(now, [machine()]), [removed], () => 'here');
  expect(isNewsOfRemoved([machine({ state: 'deleting' })])).toBe(false);
  expect(isNewsOfRemoved([machine({ state: 'suspended' })])).toBe(true);
  expect(isNewsOfRemoved([])).toBe(true);
  expect(isNews([machine({ state: 'deleting' })], [machine()])).toBe(true);
});

it('does not look for a machine of another cloud', () => {
  expect(isNews([], [], 'elsewhere')).toBe(false);
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openEndTime } from './end-time.ts';

let workDir: string;
beforeEach(() => {
  workDir = mkdtempSync(join(tmpdir(), 'muster-end-'));
});
afterEach(() => rmSync(workDir, { recursive: true, force: true }));

const START = Date.UTC(2026, 0, 1);

/** One that ends in so many milliseconds by its file. */
async function anEnd(inMs: number | undefined, { agent = 'm-1', clock = new VirtualClock(START) } = {}) {
  const said: string[] = [];
  const ofFile = inMs === undefined ? undefined : START + inMs;
  const endTime = await openEndTime({
    workDir,
    agent,
    ofFile,
    clock,
    log: (level, what) => said.push(`${level} ${what}`),
  });
  const ends: number[] = [];
  return {
    clock,
    endTime,
    said,
    ends,
    watch() {
      endTime.watch((at) => ends.push(at));
    },
    kept: () => JSON.parse(readFileSync(join(workDir, 'end.json'), 'utf8')) as unknown,
  };
}

test('it comes when the clock shows it, once', async () => {
  const { clock, endTime, ends, watch } = await anEnd(HOUR_MS);
  watch();

  await clock.advance(HOUR_MS - 1);
  expect([ends, endTime.isOver]).toEqual([[], false]);
  await clock.advance(1);
  expect([ends, endTime.isOver]).toEqual([[START + HOUR_MS], true]);
  await clock.advance(DAY_MS);

  expect(ends).toHaveLength(1);
});

test('without one the agent never ends, and nothing waits', async () => {
  const { clock, endTime, watch } = await anEnd(undefined);
  watch();

  expect([clock.nextAlarmMs(), endTime.isOver, endTime.at]).toEqual([undefined, false, undefined]);
});

test('an end that is further away than a timer can count comes in time', async () => {
  const { clock, ends, watch } = await anEnd(30 * DAY_MS);
  watch();

  await clock.advance(30 * DAY_MS - 1);
  expect(ends).toEqual([]);
  await clock.advance(1);

  expect(ends).toHaveLength(1);
});

test('a clock that is set forward, or a machine that was suspended, ends it within seconds', async () => {
  const { clock, ends, watch } = await anEnd(HOUR_MS);
  watch();

  clock.jump(2 * HOUR_MS);
  await clock.advance(10 * SECOND_MS);

  expect(ends).toHaveLength(1);
});

test('a clock that is set back counts as it is: a correction costs no time', async () => {
  const { clock, ends, watch } = await anEnd(HOUR_MS);
  watch();
  clock.jump(-HOUR_MS / 2);

  await clock.advance(1.5 * HOUR_MS - 1);
  expect(ends).toEqual([]);
  await clock.advance(1);

  expect(ends).toHaveLength(1);
});

test('an end that came does not go away when the clock is set back', async () => {
  const { clock, endTime, watch } = await anEnd(HOUR_MS);
  watch();
  await clock.advance(HOUR_MS);

  clock.jump(-DAY_MS);

  expect(endTime.isOver).toBe(true);
});

test('the server moves it, and what it said survives a restart: the file of the launch does not undo it', async () => {
  const { clock, endTime, ends, watch } = await anEnd(HOUR_MS);
  watch();
  endTime.move(START + 5 * HOUR_MS);
  await endTime.close();
  await clock.advance(2 * HOUR_MS);
  expect(ends).toEqual([]);

  const next = await anEnd(HOUR_MS, { clock });
  next.watch();
  expect([next.endTime.at, next.endTime.isOver]).toEqual([START + 5 * HOUR_MS, false]);
  await clock.advance(3 * HOUR_MS);

  expect(next.ends).toEqual([START + 5 * HOUR_MS]);
});

test('the server may take it away for good, also across a restart', async () => {
  const { clock, endTime, watch } = await anEnd(HOUR_MS);
  watch();
  endTime.move(undefined);
  await endTime.close();
  expect(clock.nextAlarmMs()).toBeUndefined();

  const next = await anEnd(HOUR_MS);

  expect(next.endTime.at).toBeUndefined();
});

test('moved to a time that has passed, it comes at once', async () => {
  const { endTime, ends, watch } = await anEnd(HOUR_MS);
  watch();

  endTime.move(START - 1);

  expect(ends).toEqual([START - 1]);
});

test('nothing moves an end that has come', async () => {
  const { clock, endTime, watch, said } = await anEnd(HOUR_MS);
  watch();
  await clock.advance(HOUR_MS);

  endTime.move(START + DAY_MS);

  expect([endTime.at, endTime.isOver]).toEqual([START + HOUR_MS, true]);
  expect(said).toEqual(['warn the server moves an end that has come; it stays']);
});

test('moved many times, the last one is kept', async () => {
  const { endTime, kept } = await anEnd(undefined);

  for (let hours = 1; hours <= 20; hours++) endTime.move(START + hours * HOUR_MS);
  await endTime.close();

  expect(kept()).toEqual({ agent: 'm-1', endsAt: START + 20 * HOUR_MS });
});

test('an end that a copied folder holds is that of another machine', async () => {
  const { endTime } = await anEnd(HOUR_MS, { agent: 'm-old' });
  endTime.move(START - HOUR_MS);
  await endTime.close();

  const copied = await anEnd(2 * HOUR_MS, { agent: 'm-new' });

  expect(copied.endTime.at).toBe(START + 2 * HOUR_MS);
});

test('of a damaged record the agent says so, and its file counts', async () => {
  for (const text of ['', '{"agent":"m-1","endsAt":"soon"}']) {
    writeFileSync(join(workDir, 'end.json'), text);
    const { endTime, said } = await anEnd(HOUR_MS);

    expect(endTime.at).toBe(START + HOUR_MS);
    expect(said).toEqual(['error cannot read the end that the server has set; that of the file counts']);
  }
});

test('where it cannot be written it counts all the same, and is written when there is room', async () => {
  const { clock, endTime, said, kept } = await anEnd(HOUR_MS);
  rmSync(workDir, { recursive: true });
  endTime.move(START + 5 * HOUR_MS);
  await until('the write has failed', () => said.includes('error cannot keep the end that the server has set'));
  expect(endTime.at).toBe(START + 5 * HOUR_MS);

  mkdirSync(workDir);
  await clock.advance(10 * SECOND_MS);
  await endTime.close();

  expect(kept()).toEqual({ agent: 'm-1', endsAt: START + 5 * HOUR_MS });
});

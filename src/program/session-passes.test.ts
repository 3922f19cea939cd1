import { expect, test } from 'vitest';
import type { AgentLink } from '#core/agent-link.ts';
import { SELF } from '#core/journal.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { poolSubject } from '#core/reason.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { makeRedactor } from '#journal/redact.ts';
import { memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { startPlane } from './plane.ts';

const SPEC = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1_000, retries: 0 };

/** A plane with one pool of agents that someone else starts; `passes` counts the passes over it. */
async function openManualPool() {
  const clock = new VirtualClock();
  const store = await openStore(memoryDriver(), () => {});
  const base = { store, clock, random: seededRandom(1), log: silentLog };
  const plane = await startPlane({
    ...base,
    redactor: makeRedactor(),
    kinds: { backends: {}, sources: {} },
    context: { ...base, cluster: store.cluster } as unknown as Context,
    link: { send: () => false, dismiss() {} } as unknown as AgentLink,
    sources: [],
    agentConfig: () => '',
  });
  await plane.pools.define(JSON.stringify({ name: 'gpu' }), {}, SELF);
  await clock.advance(1_000);
  const [pool] = store.view.pools.all();
  const passes = (): number => plane.journal.lastDecision(poolSubject(pool?.id ?? ''))?.repeats ?? 0;
  return { clock, plane, passes };
}

test('sessions that come one after the other wake their pool at once, and then once for all of them', async () => {
  const { clock, plane, passes } = await openManualPool();
  await plane.sessions.submit([{ pool: 'gpu', spec: SPEC }], SELF);
  await clock.settle();
  const before = passes();

  for (let turn = 0; turn < 30; turn++) {
    await plane.sessions.submit([{ pool: 'gpu', spec: SPEC }], SELF);
    await clock.settle();
  }
  const atOnce = passes() - before;
  await clock.advance(50);

  expect([atOnce, passes() - before]).toEqual([0, 1]);
  await plane.stop();
});

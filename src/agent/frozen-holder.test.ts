// A holder that is frozen keeps its connections open and accepts new ones; the standby takes over after the lease.
import { expect, test } from 'vitest';
import { SILENT_LINE_ENDS_MS } from './dial.ts';
import { joined } from './testing.ts';

const TAKEOVER_MS = 5_000;
const BACK_WITHIN_MS = 15_000;
const STEP_MS = 50;

test.each([
  ['the holder itself', 'holder', SILENT_LINE_ENDS_MS],
  // A standby that takes over cuts what it passed on to the former holder.
  ['the standby', 'standby', TAKEOVER_MS],
] as const)('an agent that came by %s is back within 15 s after the holder froze', async (_, first, lostAfterMs) => {
  for (const jitter of [0, 0.5, 0.999]) {
    const addresses = first === 'holder' ? ['holder', 'standby'] : ['standby', 'holder'];
    const { clock, calls, call, dialled, welcome } = await joined({ addresses, jitter });
    const frozenAtMs = clock.monotonic();
    await clock.advance(lostAfterMs);
    call().end(14);
    // A dial to the holder opens a call that nothing answers.
    let isBack = false;
    while (!isBack && clock.monotonic() - frozenAtMs < 60_000) {
      await clock.advance(STEP_MS);
      const isAtNext = dialled.at(-1) === 'standby' && calls.length === dialled.length && calls.length > 1;
      isBack = isAtNext && clock.monotonic() - frozenAtMs >= TAKEOVER_MS && !call().isCancelled;
    }
    welcome();

    expect(clock.monotonic() - frozenAtMs).toBeLessThanOrEqual(BACK_WITHIN_MS);
  }
});

import { Fault } from '../fault.ts';
import type { VirtualClock } from '../virtual-clock.ts';

const STEP_MS = 50;
const MOST_STEPS = 20_000;

/** Awaits a call while time passes on its clock; one that never ends is a fault, not a hang. */
export async function during<T>(clock: VirtualClock, call: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  call.then(over, over);
  for (let steps = 0; !isOver && steps < MOST_STEPS; steps++) await clock.advance(STEP_MS);
  if (!isOver) throw new Fault('internal', 'the call never ended');
  return call;
}

import { type Signal, signal } from '@preact/signals';
import { zone } from '../frame/preferences.ts';
import type { BrowserClock } from '../live/clock.ts';
import { ago, clockTime, moment, span } from './words.ts';

/** The time of the page, by the second. */
export const nowMs: Signal<number> = signal(0);

/** Keeps the time of the page; times on a page that no one sees stand still. */
export function tick(clock: BrowserClock, isVisible: () => boolean): void {
  if (isVisible() || nowMs.peek() === 0) nowMs.value = clock.now();
  clock.after(1_000, () => tick(clock, isVisible));
}

interface At {
  /** As the API writes it. */
  readonly at: string;
}

/** A moment as distance from now; hovering shows it exactly. */
export function Ago({ at }: At) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={moment(atMs, zone.value)}>
      {ago(atMs, nowMs.value)}
    </time>
  );
}

/** How long something has lasted, or did last. */
export function Lasts({ from, to }: { readonly from: string; readonly to?: string | undefined }) {
  const toMs = to === undefined ? nowMs.value : Date.parse(to);
  return <span title={moment(Date.parse(from), zone.value)}>{span(Math.max(0, toMs - Date.parse(from)))}</span>;
}

/** The time of day, for lines of one day. */
export function ClockTime({ at }: At) {
  const atMs = Date.parse(at);
  return (
    <time class="mono" dateTime={at} title={moment(atMs, zone.value)}>
      {clockTime(atMs, zone.value)}
    </time>
  );
}

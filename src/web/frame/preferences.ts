import { effect, type Signal, signal } from '@preact/signals';
import type { Zone } from '../parts/words.ts';

export type Theme = 'system' | 'light' | 'dark';

const read = <T extends string>(key: string, known: readonly T[]): T => {
  const kept = globalThis.localStorage?.getItem(key);
  return known.find((one) => one === kept) ?? (known[0] as T);
};

/** What this browser keeps of its user: how the pages look, and nothing of the server. */
export const theme: Signal<Theme> = signal(read('muster.theme', ['system', 'light', 'dark']));
export const zone: Signal<Zone> = signal(read('muster.zone', ['local', 'utc']));

/** Applies the preferences to the page and keeps them. */
export function keepPreferences(): void {
  effect(() => {
    localStorage.setItem('muster.theme', theme.value);
    document.documentElement.dataset.theme = theme.value;
  });
  effect(() => localStorage.setItem('muster.zone', zone.value));
}

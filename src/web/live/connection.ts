import { type ReadonlySignal, signal } from '@preact/signals';
import type { BrowserClock } from './clock.ts';

/** `ended`: the server no longer takes the session of this browser. */
export type ConnectionState = 'connecting' | 'live' | 'offline' | 'ended';

/** What the last answer of the server said of the connection. */
export interface Connection {
  readonly state: ReadonlySignal<ConnectionState>;
  /** When the data on the page was last known to be true. */
  readonly goodAtMs: ReadonlySignal<number>;
  /** Every answer says so, and every beat of the stream. */
  answered(): void;
  failed(): void;
  refused(): void;
}

export function openConnection(clock: BrowserClock): Connection {
  const state = signal<ConnectionState>('connecting');
  const goodAtMs = signal(clock.now());
  return {
    state,
    goodAtMs,
    answered() {
      if (state.value === 'ended') return;
      goodAtMs.value = clock.now();
      state.value = 'live';
    },
    failed() {
      if (state.value !== 'ended') state.value = 'offline';
    },
    refused() {
      state.value = 'ended';
    },
  };
}

// Containers that were made and never started: their server ended meanwhile, and nobody will start them.
import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { Trouble } from '#core/provider.ts';
import type { ContainerSummary } from './api.ts';

export interface Unstarted {
  /** What a listing shows. */
  note(containers: readonly ContainerSummary[]): void;
  of(id: string): Trouble | undefined;
}

// By our own clock: that of the engine may be minutes away from it. A busy engine takes seconds from one step to the next.
const UNSTARTED_MS = 30 * SECOND_MS;
const TROUBLE: Trouble = {
  kind: 'unavailable',
  message: 'the container was created and never started: the server ended, or lost the engine, while it made it',
  final: true,
};

export function openUnstarted(clock: Clock): Unstarted {
  let seenMs = new Map<string, number>();
  return {
    note(containers) {
      const nowMs = clock.monotonic();
      const waiting = containers.filter(({ State }) => State === 'created');
      seenMs = new Map(waiting.map(({ Id }) => [Id, seenMs.get(Id) ?? nowMs]));
    },
    of(id) {
      const sinceMs = seenMs.get(id);
      return sinceMs !== undefined && clock.monotonic() - sinceMs >= UNSTARTED_MS ? TROUBLE : undefined;
    },
  };
}

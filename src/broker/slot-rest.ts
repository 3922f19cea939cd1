import type { Clock } from '#core/clock.ts';

// Velda's daemon frees a slot only after it has sent the completion, and panics on a session that finds no free slot.
const SLOT_RELEASE_MS = 50;

export interface SlotRestOptions {
  readonly slots: number;
  readonly clock: Pick<Clock, 'alarm'>;
  /** How many sessions the agent runs or was sent. */
  running(): number;
}

/** Holds a start back only as long as the slot that it needs rests after its last session. */
export interface SlotRest {
  /** Runs it when a slot is certainly free: mostly at once. */
  start(session: string, send: () => void): void;
  /** Drops a start that was held back; false if it was sent, or is unknown. */
  cancel(session: string): boolean;
  /** A session has ended: its slot rests a moment. */
  ended(): void;
  close(): void;
}

export function openSlotRest({ slots, clock, running }: SlotRestOptions): SlotRest {
  const held: { readonly session: string; send(): void }[] = [];
  const resting = new Set<() => void>();

  const mustWait = (): boolean => resting.size > 0 && running() + resting.size >= slots;

  function flush(): void {
    while (held.length > 0 && !mustWait()) held.shift()?.send();
  }

  return {
    start(session, send) {
      held.push({ session, send });
      flush();
    },
    cancel(session) {
      const at = held.findIndex((one) => one.session === session);
      if (at >= 0) held.splice(at, 1);
      return at >= 0;
    },
    ended() {
      const cancel = clock.alarm(SLOT_RELEASE_MS, () => {
        resting.delete(cancel);
        flush();
      });
      resting.add(cancel);
    },
    close() {
      held.length = 0;
      for (const cancel of resting) cancel();
    },
  };
}

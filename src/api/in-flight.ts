import type { Clock } from '#core/clock.ts';

/** Requests that are not answered yet. */
export interface InFlight {
  /** One more, until the answer is called. */
  begun(): () => void;
  /** Resolves when there is none, or after that time. */
  quiet(withinMs: number): Promise<void>;
}

export function openInFlight(clock: Pick<Clock, 'alarm'>): InFlight {
  let open = 0;
  let quietNow: (() => void) | undefined;
  const ended = (): void => {
    open -= 1;
    if (open === 0) quietNow?.();
  };
  return {
    begun() {
      open += 1;
      return ended;
    },
    async quiet(withinMs) {
      if (open === 0) return;
      await new Promise<void>((resolve) => {
        const cancel = clock.alarm(withinMs, resolve);
        quietNow = () => {
          cancel();
          resolve();
        };
      });
    },
  };
}

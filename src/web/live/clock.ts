/** The one place of the dashboard that knows time; tests hand in another. */
export interface BrowserClock {
  now(): number;
  /** Runs once after that time; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

export const browserClock: BrowserClock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

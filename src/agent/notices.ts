// A cloud that will take a machine away tells the machine itself, a little before.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';

/** Why and when a machine will be taken away. */
export interface Notice {
  readonly why: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

export interface NoticesOptions {
  /** Of the machine's own metadata; `http://169.254.169.254` on every EC2 machine. */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly log: Log;
}

const EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 2_000;
const TOKEN_SECONDS = 21_600;
const TOKEN_AGE_MS = (TOKEN_SECONDS * 1_000) / 2;

/**
 * Asks the metadata of an EC2 machine until it tells of a spot interruption, and calls back once. EC2 announces it two
 * minutes ahead at `spot/instance-action` as `{ action, time }`, and answers 404 until then.
 */
export function watchNotices(options: NoticesOptions, heard: (notice: Notice) => void): { stop(): void } {
  const { clock, endpoint, log } = options;
  const stopping = new AbortController();
  let token = { value: '', untilMs: Number.NEGATIVE_INFINITY };

  async function ask(path: string, init: RequestInit): Promise<Response> {
    return options.fetch(`${endpoint}/latest/${path}`, {
      ...init,
      signal: AbortSignal.any([stopping.signal, withinTime()]),
    });
  }

  function withinTime(): AbortSignal {
    const ending = new AbortController();
    clock.alarm(ANSWER_WITHIN_MS, () => ending.abort());
    return ending.signal;
  }

  async function freshToken(): Promise<string> {
    if (clock.monotonic() < token.untilMs) return token.value;
    const answer = await ask('api/token', {
      method: 'PUT',
      headers: { 'x-aws-ec2-metadata-token-ttl-seconds': String(TOKEN_SECONDS) },
    });
    if (!answer.ok) throw new Fault('unavailable', `The machine's metadata answered ${answer.status}.`);
    token = { value: await answer.text(), untilMs: clock.monotonic() + TOKEN_AGE_MS };
    return token.value;
  }

  async function look(): Promise<Notice | undefined> {
    const headers = { 'x-aws-ec2-metadata-token': await freshToken() };
    const answer = await ask('meta-data/spot/instance-action', { headers });
    if (answer.status === 401) token = { ...token, untilMs: Number.NEGATIVE_INFINITY };
    return answer.ok ? parseNotice(await answer.text()) : undefined;
  }

  async function watch(): Promise<void> {
    let hasComplained = false;
    while (!stopping.signal.aborted) {
      try {
        const notice = await look();
        if (notice) return heard(notice);
        hasComplained = false;
      } catch (thrown) {
        if (!hasComplained && !stopping.signal.aborted)
          log('warn', 'cannot ask for notices of interruption', { error: Fault.from(thrown).message });
        hasComplained = true;
      }
      await clock.sleep(EVERY_MS, stopping.signal);
    }
  }

  void watch();
  return { stop: () => stopping.abort() };
}

function parseNotice(text: string): Notice | undefined {
  try {
    const { action, time } = JSON.parse(text) as { action?: unknown; time?: unknown };
    const endsAt = Date.parse(String(time));
    if (Number.isNaN(endsAt)) return undefined;
    return { why: `the cloud takes its machine back (${String(action)})`, endsAt };
  } catch {
    return undefined;
  }
}

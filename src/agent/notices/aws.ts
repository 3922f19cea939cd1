import { Fault } from '#core/fault.ts';
import { type Notice, pollForNotice, type WatchNotices } from '../notices.ts';

// The same address on every EC2 machine, and the variable by which the tools of AWS are sent elsewhere.
const METADATA = 'http://169.254.169.254';
const METADATA_VARIABLE = 'AWS_EC2_METADATA_SERVICE_ENDPOINT';

const EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 2_000;
const TOKEN_SECONDS = 21_600;
const TOKEN_AGE_MS = (TOKEN_SECONDS * 1_000) / 2;

/**
 * Asks the metadata of an EC2 machine for a spot interruption. EC2 announces it two minutes ahead at
 * `spot/instance-action` as `{ action, time }`, and answers 404 until then.
 */
const watchSpot: WatchNotices = (options, heard) => {
  const { clock } = options;
  const endpoint = (options.variable(METADATA_VARIABLE) || METADATA).replace(/\/+$/, '');
  let token = { value: '', untilMs: Number.NEGATIVE_INFINITY };

  function withinTime(): AbortSignal {
    const ending = new AbortController();
    clock.alarm(ANSWER_WITHIN_MS, () => ending.abort());
    return ending.signal;
  }

  async function ask(path: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const url = `${endpoint}/latest/${path}`;
    return options.fetch(url, { ...init, signal: AbortSignal.any([signal, withinTime()]) });
  }

  async function freshToken(signal: AbortSignal): Promise<string> {
    if (clock.monotonic() < token.untilMs) return token.value;
    const headers = { 'x-aws-ec2-metadata-token-ttl-seconds': String(TOKEN_SECONDS) };
    const answer = await ask('api/token', { method: 'PUT', headers }, signal);
    if (!answer.ok) throw new Fault('unavailable', `The metadata service answered ${answer.status}.`);
    token = { value: await answer.text(), untilMs: clock.monotonic() + TOKEN_AGE_MS };
    return token.value;
  }

  async function look(signal: AbortSignal): Promise<Notice | undefined> {
    const headers = { 'x-aws-ec2-metadata-token': await freshToken(signal) };
    const answer = await ask('meta-data/spot/instance-action', { headers }, signal);
    if (answer.status === 401) token = { ...token, untilMs: Number.NEGATIVE_INFINITY };
    return answer.ok ? parseNotice(await answer.text()) : undefined;
  }

  return pollForNotice(options, EVERY_MS, look, heard);
};

export default watchSpot;

function parseNotice(text: string): Notice | undefined {
  try {
    const { action, time } = JSON.parse(text) as { action?: unknown; time?: unknown };
    const endsAt = Date.parse(String(time));
    if (Number.isNaN(endsAt)) return undefined;
    return { why: `the cloud reclaims its machine (${String(action)})`, endsAt };
  } catch {
    return undefined;
  }
}

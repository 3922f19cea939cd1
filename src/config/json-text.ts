// JSON that callers send: it is bounded before any schema looks at it.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { openReadingThread } from './reading-thread.ts';

/** Reads JSON of at most so many values, without a stall; throws `invalid` where it is no JSON or has more. */
export interface JsonReader {
  /** A long body is given away: the caller may not use it afterwards. */
  read(body: Buffer, mostValues: number): unknown;
}

// Whatever it holds, so much is read within some ten milliseconds.
const SHORT_BYTES = 256 * 1_024;
// Far more than any route takes; V8 needs seconds and gigabytes for millions.
const DEEPEST = 100;

const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,');

function tooMany(mostValues: number): Fault {
  const remedy = 'Send less in one request.';
  return new Fault('invalid', `The body has more than ${mostValues} values.`, { at: 'body', remedy });
}

// What each byte outside of texts adds to the depth.
const DEEPER = new Int8Array(256);
for (const byte of Buffer.from('[{')) DEEPER[byte] = 1;
for (const byte of Buffer.from(']}')) DEEPER[byte] = -1;

function tooDeep(): Fault {
  const remedy = 'Send a flatter body.';
  return new Fault('invalid', `The body is nested deeper than ${DEEPEST} levels.`, { at: 'body', remedy });
}

/** Behind the text that begins there. */
function behindText(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** Refuses what is certainly too deep or has too many values before any of it is parsed: a look at each byte costs little. */
function refuseEarly(bytes: Uint8Array, mostValues: number): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    depth += DEEPER[byte] as number;
    if (byte === COMMA) values += 1;
    if (values > mostValues) throw tooMany(mostValues);
    if (depth > DEEPEST) throw tooDeep();
    at = byte === QUOTE ? behindText(bytes, at) : at + 1;
  }
}

/** The value, unless it holds more values than that; keys are not counted. */
export function boundedJson(body: Buffer, mostValues: number): unknown {
  // Each value takes a byte or more.
  if (body.length <= mostValues) return parse(body.toString('utf8'));
  refuseEarly(body, mostValues);
  const whole = parse(body.toString('utf8'));
  const waiting = [whole];
  for (let count = 1, value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const inner: unknown[] = Array.isArray(value) ? value : Object.values(value);
    count += inner.length;
    if (count > mostValues) throw tooMany(mostValues);
    for (const one of inner) if (typeof one === 'object' && one !== null) waiting.push(one);
  }
  return whole;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const detail = `The body is not JSON: ${(cause as Error).message}.`;
    throw new Fault('invalid', detail, { at: 'body', cause, remedy: 'Send valid JSON.' });
  }
}

export function openJsonReader(clock: Clock): JsonReader {
  const thread = openReadingThread(clock);

  async function readInThread(json: Buffer, mostValues: number): Promise<unknown> {
    const answer = await thread.ask({ json, mostValues }, [json.buffer as ArrayBuffer]);
    if ('json' in answer) return answer.json;
    const why = 'refused' in answer ? answer.refused : 'The thread that reads texts sent an unexpected answer.';
    throw new Fault('invalid', why, { at: 'body', remedy: 'Send valid JSON, and less in one request.' });
  }

  return {
    read: (body, mostValues) =>
      body.length <= SHORT_BYTES ? boundedJson(body, mostValues) : readInThread(body, mostValues),
  };
}

// JSON that callers send: it is bounded before any schema looks at it.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { openReadingThread } from './reading-thread.ts';

/** Reads JSON of at most so many values, without a stall; throws `invalid` where it is no JSON or has more. */
export interface JsonReader {
  read(text: string, mostValues: number): unknown;
}

// Whatever it holds, so much is read within some ten milliseconds.
const SHORT_CHARACTERS = 256 * 1_024;

/** The value, unless it holds more values than that; keys are not counted. */
export function boundedJson(text: string, mostValues: number): unknown {
  const whole = parse(text);
  // Each value takes a character or more.
  if (text.length <= mostValues) return whole;
  const waiting = [whole];
  for (let count = 1, value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const inner: unknown[] = Array.isArray(value) ? value : Object.values(value);
    count += inner.length;
    if (count > mostValues) {
      const remedy = 'Send less in one request.';
      throw new Fault('invalid', `The body has more than ${mostValues} values.`, { at: 'body', remedy });
    }
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

  async function readInThread(json: string, mostValues: number): Promise<unknown> {
    const answer = await thread.ask({ json, mostValues });
    if ('json' in answer) return answer.json;
    const why = 'refused' in answer ? answer.refused : 'The thread that reads texts sent an unexpected answer.';
    throw new Fault('invalid', why, { at: 'body', remedy: 'Send valid JSON, and less in one request.' });
  }

  return {
    read: (text, mostValues) =>
      text.length <= SHORT_CHARACTERS ? boundedJson(text, mostValues) : readInThread(text, mostValues),
  };
}

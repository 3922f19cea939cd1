import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import {
  type FetchContents,
  openSessionContents,
  type SessionContentsOptions,
  type WantedContent,
} from './session-contents.ts';
import { removeTree } from './session-folder.ts';
import { newWorkDir } from './testing.ts';

let workDir: string;
beforeEach(() => {
  workDir = newWorkDir();
});
afterEach(() => removeTree(workDir));

const RUN = { session: 's1', attempt: 1 };
const LARGE = 'x'.repeat(1024 * 1024 + 1);
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A server with these texts, by their numbers; answers what it was asked for. */
function anAgent(texts: readonly string[], options: Partial<SessionContentsOptions> = {}) {
  const clock = new VirtualClock();
  const asked: (readonly number[])[] = [];
  const fetchContents: FetchContents = async function* (_session, _attempt, numbers) {
    asked.push(numbers);
    for (const number of numbers) yield { data: Buffer.from(texts[number] ?? ''), isLast: true };
  };
  const contents = openSessionContents({ workDir, fetchContents, clock, ...options });

  /** Fetches those texts as a session would. */
  async function get(...numbers: readonly number[]): Promise<readonly string[]> {
    const wanted: WantedContent[] = numbers.map((number) => {
      const text = texts[number] ?? '';
      return { number, hash: sha(text), bytes: text.length };
    });
    const got: string[] = [];
    const reading = (async () => {
      for await (const { data } of contents.get(RUN, wanted)) got.push(Buffer.from(data).toString());
    })();
    await clock.settle();
    await reading;
    return got;
  }
  return { clock, asked, contents, get, kept: (text: string) => join(workDir, 'contents', sha(text)) };
}

describe('contents that a worker has fetched', () => {
  it('are not fetched again for the next session, and come in the order that it asks for', async () => {
    const { get, asked } = anAgent(['zero', 'one', 'two', '']);
    await get(1, 3);

    expect(await get(0, 1, 2, 3)).toEqual(['zero', 'one', 'two', '']);
    expect(asked).toEqual([
      [1, 3],
      [0, 2],
    ]);
  });

  it('are fetched again where a session has changed or removed what was kept, or put a link there', async () => {
    const { get, asked, kept } = anAgent(['zero', 'one', 'two']);
    await get(0, 1, 2);
    writeFileSync(kept('zero'), 'evil');
    unlinkSync(kept('one'));
    writeFileSync(join(workDir, 'elsewhere'), 'two');
    unlinkSync(kept('two'));
    symlinkSync(join(workDir, 'elsewhere'), kept('two'));

    expect(await get(0, 1, 2)).toEqual(['zero', 'one', 'two']);
    expect(asked.slice(1)).toEqual([[0], [1], [2]]);
  });

  it('are not kept if they are large', async () => {
    const { get, asked } = anAgent([LARGE]);
    await get(0);
    await get(0);

    expect(asked).toEqual([[0], [0]]);
  });

  it('are not kept if the caller finds that their bytes are wrong', async () => {
    const { contents, clock } = anAgent(['other bytes']);
    const pieces = contents.get(RUN, [{ number: 0, hash: sha('right'), bytes: 5 }]);
    const refused = (async () => {
      for await (const _ of pieces) throw new Fault('internal', 'wrong bytes');
    })().catch(() => 'refused');
    await clock.settle();

    expect(await refused).toBe('refused');
    expect(existsSync(join(workDir, 'contents'))).toBe(false);
  });

  it('take a bounded part of the disk: the longest unused go first', async () => {
    const { get, asked } = anAgent(['aaaa', 'bbbb', 'cccc'], { mostKeptBytes: 8 });
    await get(0, 1);
    await get(0);
    await get(2);
    await get(0, 1);

    expect(asked).toEqual([[0, 1], [2], [1]]);
  });

  it('go when the disk is nearly full', async () => {
    let freePart = 0.5;
    const { get, asked } = anAgent(['zero'], { freePart: () => freePart });
    await get(0);
    freePart = 0.05;
    await get(0);

    expect(asked).toEqual([[0], [0]]);
  });

  it('go when no session has needed them for an hour, with the agent, and at its next start', async () => {
    const { get, clock, contents, asked } = anAgent(['zero']);
    const keeps = (): boolean => existsSync(join(workDir, 'contents'));
    await get(0);
    await clock.advance(HOUR_MS - 1);
    await get(0);
    await clock.advance(HOUR_MS - 1);
    expect(keeps()).toBe(true);
    await clock.advance(1);
    expect(keeps()).toBe(false);

    await get(0);
    expect(asked.length).toBe(2);
    contents.close();
    expect(keeps()).toBe(false);

    mkdirSync(join(workDir, 'contents'));
    anAgent([]);
    expect(readdirSync(workDir)).not.toContain('contents');
  });

  it('end with a fault that is tried again where the server sends too few', async () => {
    const clock = new VirtualClock();
    const contents = openSessionContents({ workDir, clock, fetchContents: async function* () {} });
    const reading = (async () => {
      for await (const _ of contents.get(RUN, [{ number: 0, hash: sha('a'), bytes: 1 }]));
    })();
    reading.catch(() => {});
    await clock.settle();

    await expect(reading).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

// When this agent ends by itself: the time in its file, until the server moves it. What the server said is kept in the
// folder of the agent, since the file of a launch stays as it is, and a machine may start its agent again at any time.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { writeDurably } from '#host/durable-file.ts';

export interface EndTime {
  /** Milliseconds since 1970; undefined: never. */
  readonly at: number | undefined;
  readonly isOver: boolean;
  /** Calls back once, when the clock shows that time. */
  watch(over: (at: number) => void): void;
  /** The server has moved it: it counts at once, and is then made durable. Nothing moves an end that has come. */
  move(at: number | undefined): void;
  /** Ends the watch; resolves when nothing is being written any more. */
  close(): Promise<void>;
}

export interface EndTimeOptions {
  readonly workDir: string;
  /** An image that was made of another machine may hold that one's folder: its end is not ours. */
  readonly agent: string;
  /** As the agent's file has it. */
  readonly ofFile: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

interface KeptEnd {
  readonly agent: string;
  readonly endsAt: number | null;
}

// Timers stand still while a machine is suspended, and know nothing of a clock that is set: the time of day decides, and
// is looked at this often. A wrong clock that is corrected has then done no harm, unless it showed the end.
const LOOK_EVERY_MS = 10_000;
// A full disk may have room again.
const WRITE_AGAIN_MS = 10_000;

async function readKept(path: string, log: Log): Promise<KeptEnd | undefined> {
  try {
    const kept = JSON.parse(await readFile(path, 'utf8')) as KeptEnd;
    if (kept.endsAt === null || Number.isSafeInteger(kept.endsAt)) return kept;
    throw new Fault('invalid', 'It holds no time.');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT')
      log('error', 'cannot read the end that the server has set; that of the file counts', {
        path,
        error: Fault.from(thrown).message,
      });
    return undefined;
  }
}

export async function openEndTime({ workDir, agent, ofFile, clock, log }: EndTimeOptions): Promise<EndTime> {
  const path = join(workDir, 'end.json');
  const found = await readKept(path, log);
  const kept = found?.agent === agent ? found : undefined;
  let at = kept ? (kept.endsAt ?? undefined) : ofFile;
  let keptText = kept && JSON.stringify(kept);
  let over: ((at: number) => void) | undefined;
  let hasCome = false;
  let isClosed = false;
  let writing: Promise<void> | undefined;
  let cancelLook = (): void => {};
  let cancelWrite = (): void => {};

  function isOver(): boolean {
    hasCome ||= at !== undefined && at <= clock.now();
    return hasCome;
  }

  function look(): void {
    cancelLook();
    if (at === undefined || !over || isClosed) return;
    if (!isOver()) {
      cancelLook = clock.alarm(Math.min(at - clock.now(), LOOK_EVERY_MS), look);
      return;
    }
    const tell = over;
    over = undefined;
    tell(at);
  }

  function write(): void {
    cancelWrite();
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
  }

  /** The newest, if it has been moved again meanwhile. */
  async function writeAll(): Promise<void> {
    try {
      for (let text = textNow(); text !== keptText; text = textNow()) {
        await writeDurably(path, text);
        keptText = text;
      }
    } catch (thrown) {
      log('error', 'cannot keep the end that the server has set', { path, error: Fault.from(thrown).message });
      if (!isClosed) cancelWrite = clock.alarm(WRITE_AGAIN_MS, write);
    }
  }

  const textNow = (): string => JSON.stringify({ agent, endsAt: at ?? null } satisfies KeptEnd);

  return {
    get at() {
      return at;
    },
    get isOver() {
      return isOver();
    },
    watch(tell) {
      over = tell;
      look();
    },
    move(newAt) {
      if (isOver()) return log('warn', 'the server moves an end that has come; it stays', { endsAt: newAt });
      if (at !== newAt) log('info', 'the server moves the end of this agent', { from: at, to: newAt });
      at = newAt;
      write();
      look();
    },
    async close() {
      isClosed = true;
      cancelLook();
      cancelWrite();
      await writing;
    },
  };
}

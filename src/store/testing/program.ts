// A program for tests: holds the database it is given, commits without end, and says what has become durable.
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import { append, put } from '#core/store.ts';
import { openDatabase } from '../database.ts';
import { openStore } from '../store.ts';
import { sampleEvent, sampleWorker } from './rows.ts';

/** What the program says, a line of JSON each. */
export type Said =
  | { readonly said: 'holding'; readonly epoch: number }
  /** The workers `a-<number>` and `b-<number>` and an event of that number are durable. */
  | { readonly said: 'durable'; readonly number: number }
  | { readonly said: 'lost'; readonly kind: string }
  | { readonly said: 'refused'; readonly kind: string; readonly message: string };

const CALLERS = 4;

function say(said: Said): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

async function run(url: string): Promise<void> {
  const replica = await openDatabase(url, {
    random: systemRandom,
    log: silentLog,
    advertised: { pid: process.pid },
    lost: (fault) => say({ said: 'lost', kind: fault.kind }),
  });
  try {
    const store = await openStore(await replica.hold(new AbortController().signal), () => {});
    say({ said: 'holding', epoch: store.epoch });
    let count = 0;
    const commitAll = async (): Promise<void> => {
      for (;;) {
        const number = ++count;
        const pair = [`a-${number}`, `b-${number}`].map((id) =>
          put('workers', sampleWorker(id, { askedAt: store.epoch })),
        );
        await store.commit([...pair, append('events', sampleEvent(String(number)))]);
        say({ said: 'durable', number });
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, commitAll));
  } catch (thrown) {
    const { kind, message } = Fault.from(thrown);
    say({ said: 'refused', kind, message });
    await replica.close();
  }
}

await run(process.argv[2] ?? '');

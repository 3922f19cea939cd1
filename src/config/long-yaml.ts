// Long files are read in a thread of their own: parsing ten thousand pools would block the event loop for a second.
import { Worker } from 'node:worker_threads';
import { Fault } from '#core/fault.ts';
import type { Parsed } from './problem.ts';
import { type ConfigNode, child } from './tree.ts';
import { type DocumentLimits, OPERATOR_LIMITS, readYaml } from './yaml-document.ts';

/** Asks for a text to be read, or for a piece of a list in it. */
export type ToYamlThread =
  | {
      readonly text: string;
      readonly limits: DocumentLimits;
      /** Longer lists at the top are handed out in pieces. */
      readonly longest: number;
    }
  | { readonly key: string; readonly from: number; readonly to: number }
  | { readonly json: Uint8Array; readonly mostValues: number };

export type FromYamlThread =
  | { readonly head: Parsed<ConfigNode>; readonly lists: readonly { readonly key: string; readonly length: number }[] }
  | { readonly items: readonly ConfigNode[] }
  | { readonly json: unknown }
  | { readonly refused: string };

/** A file that has been read; long lists at its top come in pieces. */
export interface OpenedYaml {
  /** All of it, apart from the items of long lists. */
  readonly tree: Parsed<ConfigNode>;
  /** The items of a list at the top, in order. */
  items(key: string): AsyncIterable<readonly ConfigNode[]>;
  close(): Promise<void>;
}

// Reading so much takes some ten milliseconds; a thread takes longer to start.
const LONG_BYTES = 64 * 1_024;
const ITEMS_A_PIECE = 100;

/** Reads YAML or JSON without a stall, however long it is. */
export async function openYaml(text: string, limits: DocumentLimits = OPERATOR_LIMITS): Promise<OpenedYaml> {
  if (text.length > LONG_BYTES && text.length <= limits.bytes) return await openInThread(text, limits);
  return asOpened(readYaml(text, limits));
}

/** A tree that is there as a whole. */
export function asOpened(tree: Parsed<ConfigNode>): OpenedYaml {
  return {
    tree,
    async *items(key) {
      const list = tree.value && child(tree.value, key);
      if (list?.is === 'list') yield list.items;
    },
    async close() {},
  };
}

export function startYamlThread(): Worker {
  return new Worker(new URL('./yaml-thread.mjs', import.meta.url), { name: 'muster-yaml', execArgv: [] });
}

async function openInThread(text: string, limits: DocumentLimits): Promise<OpenedYaml> {
  const thread = startYamlThread();
  let waiting: PromiseWithResolvers<FromYamlThread> | undefined;
  let gone: Fault | undefined;
  const fail = (why: string): void => {
    gone ??= new Fault('internal', `The thread that reads long files ${why}.`);
    waiting?.reject(gone);
  };
  const receive = (): Promise<FromYamlThread> => {
    waiting = Promise.withResolvers<FromYamlThread>();
    if (gone) waiting.reject(gone);
    return waiting.promise;
  };
  thread.on('message', (message: FromYamlThread) => waiting?.resolve(message));
  thread.on('error', (error: Error) => fail(`failed: ${error.message}`));
  thread.on('exit', () => fail('has ended'));
  const close = async (): Promise<void> => void (await thread.terminate());
  try {
    const reading = receive();
    thread.postMessage({ text, limits, longest: ITEMS_A_PIECE } satisfies ToYamlThread);
    const first = await reading;
    if (!('head' in first)) throw new Fault('internal', 'The thread that reads long files sent an unexpected answer.');
    const lengths = new Map(first.lists.map(({ key, length }) => [key, length]));
    return {
      tree: first.head,
      async *items(key) {
        const length = lengths.get(key);
        const short = first.head.value && child(first.head.value, key);
        if (length === undefined && short?.is === 'list') yield short.items;
        const ask = (from: number): Promise<FromYamlThread> | undefined => {
          if (length === undefined || from >= length) return undefined;
          const piece = receive();
          // The reader may have given up by the time it fails.
          piece.catch(() => {});
          thread.postMessage({ key, from, to: from + ITEMS_A_PIECE } satisfies ToYamlThread);
          return piece;
        };
        let next = ask(0);
        for (let from = 0; next; from += ITEMS_A_PIECE) {
          const message = await next;
          // The thread makes the next one ready while this one is read.
          next = ask(from + ITEMS_A_PIECE);
          if ('items' in message) yield message.items;
        }
      },
      close,
    };
  } catch (thrown) {
    await close();
    throw Fault.from(thrown);
  }
}

import { messagesOf, plainMessage } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { openSlices } from '#core/slices.ts';
import type { Exchange } from './exchange.ts';
import { type KubeIntent, readStatus, refusalOf } from './faults.ts';
import type { KubeQuery } from './listing.ts';
import type { KubeObject } from './object.ts';
import { collectionPath, type KubeResource } from './resource.ts';

export interface WatchQuery extends KubeQuery {
  /** Only what happened after it is reported. */
  readonly resourceVersion: string;
  /** After this the API server ends the watch itself. */
  readonly timeoutSeconds: number;
}

/** A change of one object; a bookmark only says how far the watch has come. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: KubeObject;
}

const TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

// The largest object is about 3 MB; what is longer is no event.
const LONGEST_LINE = 32 * 2 ** 20;

/** Text as it comes, in whole lines; the last one may lack its end. */
export function openLines() {
  // Joined only when the line ends: an event of megabytes comes in hundreds of pieces.
  let pieces: string[] = [];
  let heldLength = 0;
  return {
    push(text: string): string[] {
      const parts = text.split('\n');
      const rest = parts.pop() as string;
      if (parts.length > 0) {
        parts[0] = pieces.join('') + parts[0];
        pieces = [];
        heldLength = 0;
      }
      if (rest !== '') pieces.push(rest);
      heldLength += rest.length;
      if (heldLength > LONGEST_LINE) throw new Fault('unavailable', 'A watch sent a line without an end.');
      return parts;
    },
    rest: (): string => pieces.join(''),
  };
}

function eventOf(
  line: string,
  intent: KubeIntent,
  by: { readonly server: string; readonly nowMs: number },
): WatchEvent {
  let event: { readonly type?: unknown; readonly object?: unknown };
  try {
    event = JSON.parse(line);
  } catch {
    throw new Fault('unavailable', `The watch of ${intent.resource.plural} was cut within an event.`);
  }
  if (event.type === 'ERROR') throw refusalOf(intent, { ...readStatus(500, event.object), isEvent: true }, by);
  if (!TYPES.has(event.type) || typeof event.object !== 'object' || event.object === null)
    throw new Fault('unavailable', `The watch of ${intent.resource.plural} sent what is no event.`);
  return event as WatchEvent;
}

/** The lines of a body as they come; the last one may lack its end. */
async function* linesOf(
  body: ReadableStream<Uint8Array>,
  resource: KubeResource,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  // A stream that does not know the signal would be waited for without an end.
  const giveUp = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  const lines = openLines();
  const text = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((thrown) => {
        throw new Fault('unavailable', `The watch of ${resource.plural} broke: ${plainMessage(messagesOf(thrown))}`);
      });
      if (signal.aborted) throw new Fault('unavailable', `The watch of ${resource.plural} was given up.`);
      if (done) return yield lines.rest();
      yield* lines.push(text.decode(value, { stream: true }));
    }
  } finally {
    signal.removeEventListener('abort', giveUp);
    giveUp();
  }
}

/**
 * The events of one watch until the API server ends it, which is no failure. An event of type ERROR is thrown, and its
 * Status is behind the fault; so is a connection that breaks.
 */
export async function* watchOf(
  exchange: Exchange,
  clock: Clock,
  { resource, ...query }: WatchQuery & { readonly resource: KubeResource },
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { namespace, ...rest } = query;
  const intent = { verb: 'watch', resource, namespace } as const;
  const path = collectionPath(resource, namespace);
  const answer = await exchange.open(
    { ...intent, method: 'GET', path, query: { ...rest, watch: 1, allowWatchBookmarks: true } },
    signal,
  );
  if (answer.body === null) return;
  // Chunks that lie ready are read without a turn of the event loop between them.
  const slices = openSlices(clock);
  for await (const line of linesOf(answer.body, resource, signal)) {
    if (line.trim() !== '') yield eventOf(line, intent, { server: exchange.server, nowMs: clock.now() });
    if (slices.isOver()) await slices.next();
  }
}

import type { Change } from '../../api/wire/event.ts';
import { partsOfStream } from './parts-of-stream.ts';

/** What the stream of changes says; a heartbeat says only that the server is there. */
export type StreamMessage =
  | { readonly kind: 'hello' | 'reset' | 'beat'; readonly position?: string }
  | { readonly kind: 'change'; readonly position?: string; readonly change: Change };

/** One block of lines, as https://html.spec.whatwg.org/multipage/server-sent-events.html has it. */
function read(block: string): StreamMessage | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''));
  }
  const id = fields.get('id');
  const position = id === undefined ? {} : { position: id };
  switch (fields.get('event')) {
    case undefined:
      return { kind: 'beat' };
    case 'hello':
      return { kind: 'hello', ...position };
    case 'reset':
      return { kind: 'reset', ...position };
    case 'change':
      return { kind: 'change', ...position, change: JSON.parse(fields.get('data') ?? '') as Change };
  }
  return undefined;
}

/** Reads server-sent events until the stream ends or breaks. */
export async function* readStream(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage> {
  for await (const block of partsOfStream(body, '\n\n')) {
    const message = read(block);
    if (message) yield message;
  }
}

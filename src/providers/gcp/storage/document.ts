// One object as a document.
import { Fault, type FaultKind } from '#core/fault.ts';
import type { Document } from '#core/provider.ts';
import { type Bucket, findObject, type ListedObject, MOST_BYTES, readObject } from './objects.ts';

// Whoever replaces an object faster than it can be read is waited for until the next listing.
const MOST_LOOKS = 3;
/** About this object alone: rights by condition, or a key of encryption that the reader must send. */
const ITS_OWN: ReadonlySet<FaultKind> = new Set(['denied', 'invalid', 'unsupported']);

/** Whether it can be a document: consoles and tools create empty objects and names that end in `/` as folders. */
export const isDocument = ({ name, bytes }: ListedObject): boolean => bytes > 0 && !name.endsWith('/');

function tooLarge({ name, bytes }: ListedObject): Fault {
  return new Fault('invalid', `The object ${name} has ${bytes} bytes, and a document at most ${MOST_BYTES}.`, {
    remedy: 'Move it out of config_prefix, or shorten it.',
  });
}

async function read(at: Bucket, object: ListedObject, signal: AbortSignal): Promise<Document> {
  const { name: key, generation } = object;
  if (object.bytes > MOST_BYTES) return { key, version: generation, fault: tooLarge(object) };
  try {
    return { key, version: generation, text: await readObject(at, object, signal) };
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (!ITS_OWN.has(fault.kind)) throw fault;
    // Not the version itself: it is read again as soon as it may be.
    return { key, version: `unread:${generation}`, fault };
  }
}

/** The document of an object that was listed; nothing where it is gone by now. One that was replaced is read as it is now. */
export async function documentOf(at: Bucket, listed: ListedObject, signal: AbortSignal): Promise<Document | undefined> {
  let object = listed;
  for (let looks = 1; ; looks++) {
    try {
      return await read(at, object, signal);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind !== 'missing') throw fault;
      if (looks === MOST_LOOKS)
        throw new Fault('unavailable', `The object ${object.name} changes faster than it can be read.`, {
          cause: fault,
        });
    }
    const now = await findObject(at, object.name, signal);
    if (!now || !isDocument(now)) return undefined;
    object = now;
  }
}

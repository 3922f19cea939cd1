// kubectl writes some objects of its own as protobufs: they are read by shape, and answered as JSON.
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { SHAPES, type Shape } from './protobuf-shapes.ts';

const MAGIC = Buffer.from('k8s\0');

interface Entry {
  readonly number: number;
  readonly content: Buffer;
  readonly amount: number;
}

/** The fields of a message in their order; fields of fixed width do not occur in what is read here. */
function entriesOf(bytes: Buffer): Entry[] {
  const entries: Entry[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, kind] = reader.tag();
    if (kind === WireType.Varint) entries.push({ number, content: Buffer.alloc(0), amount: Number(reader.int64()) });
    else if (kind === WireType.LengthDelimited)
      entries.push({ number, content: Buffer.from(reader.bytes()), amount: 0 });
    else reader.skip(kind, number);
  }
  return entries;
}

const textAt = (bytes: Buffer, number: number): string =>
  entriesOf(bytes)
    .findLast((entry) => entry.number === number)
    ?.content.toString() ?? '';

function valueOfEntry({ content, amount }: Entry, kind: Shape[number][1]): unknown {
  if (typeof kind === 'object') return decode(content, kind);
  const mapped = (encoding: BufferEncoding) => ({
    [textAt(content, 1)]: (entriesOf(content).find(({ number }) => number === 2)?.content ?? Buffer.alloc(0)).toString(
      encoding,
    ),
  });
  const readers = {
    text: () => content.toString(),
    amount: () => amount,
    map: () => mapped('utf8'),
    base64Map: () => mapped('base64'),
  };
  return readers[kind]();
}

function decode(bytes: Buffer, shape: Shape): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const entry of entriesOf(bytes)) {
    const known = shape[entry.number];
    if (!known) continue;
    const [name, kind, isList] = known;
    const value = valueOfEntry(entry, kind);
    if (isList) made[name] = [...((made[name] as unknown[] | undefined) ?? []), value];
    else if (kind === 'map' || kind === 'base64Map') made[name] = { ...(made[name] as object), ...(value as object) };
    else made[name] = value;
  }
  return made;
}

/** The object as JSON; undefined where its kind is not one of those that kubectl writes so. */
export function readProtobuf(content: Uint8Array): string | undefined {
  const bytes = Buffer.from(content);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const envelope = entriesOf(bytes.subarray(MAGIC.length));
  const meta = envelope.find(({ number }) => number === 1)?.content ?? Buffer.alloc(0);
  const raw = envelope.find(({ number }) => number === 2)?.content ?? Buffer.alloc(0);
  const [apiVersion, kind] = [textAt(meta, 1), textAt(meta, 2)];
  const shape = SHAPES[kind];
  return shape && JSON.stringify({ apiVersion, kind, ...decode(raw, shape) });
}

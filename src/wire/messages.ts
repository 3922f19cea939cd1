import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Fault } from '#core/fault.ts';

/** The longest message that either side accepts: what Velda's programs accept and may send, the default of grpc-go. */
export const LONGEST_MESSAGE_BYTES = 4 * 1024 * 1024;

// As many as decode within 50 ms on a slow core. A field takes two bytes or more.
const MOST_FIELDS = 50_000;
const DEEPEST = 100;

export function encode<Schema extends DescMessage>(
  schema: Schema,
  message: MessageInitShape<Schema>,
): Uint8Array<ArrayBuffer> {
  return toBinary(schema, create(schema, message));
}

/** A message with these encoded ones in one repeated field: each is encoded once, so its size is known before. */
export function messageOf(field: number, items: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const item of items) writer.tag(field, WireType.LengthDelimited).bytes(item);
  return writer.finish();
}

/** A message that has one field of bytes alone. They are copied once: the writer doubles its buffer until they fit, and copies it at the end. */
export function bytesMessage(field: number, bytes: Uint8Array): Uint8Array {
  const head = new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(bytes.length).finish();
  return Buffer.concat([head, bytes]);
}

const isPacked = (field: DescField): boolean =>
  field.fieldKind === 'list' &&
  (field.listKind === 'enum' ||
    (field.listKind === 'scalar' && field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES));

const messageIn = (field: DescField): DescMessage | undefined =>
  field.fieldKind === 'message' || field.fieldKind === 'list' ? field.message : undefined;

const fieldsByNumber = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(desc: DescMessage): ReadonlyMap<number, DescField> {
  const known = fieldsByNumber.get(desc);
  if (known) return known;
  const fields = new Map(desc.fields.map((field) => [field.number, field]));
  fieldsByNumber.set(desc, fields);
  return fields;
}

/** Whether decoding would make more than so many fields: counting to it takes a fraction of the time. */
function hasTooMany(schema: DescMessage, bytes: Uint8Array, mostFields: number): boolean {
  const reader = new BinaryReader(bytes);
  let count = 0;

  function isOverWithin(field: DescField, depth: number): boolean {
    const length = reader.uint32();
    const end = reader.pos + length;
    if (isPacked(field)) count += length;
    const message = messageIn(field);
    const isOver = message !== undefined && isOverIn(message, end, depth + 1);
    reader.pos = end;
    return isOver;
  }

  function isOverIn(desc: DescMessage, end: number, depth: number): boolean {
    const fields = fieldsOf(desc);
    while (reader.pos < end) {
      const [number, wire] = reader.tag();
      count += 1;
      if (count > mostFields || depth > DEEPEST) return true;
      const field = fields.get(number);
      if (!field || wire !== WireType.LengthDelimited) reader.skip(wire, number);
      else if (isOverWithin(field, depth)) return true;
    }
    return false;
  }

  return isOverIn(schema, bytes.length, 0);
}

/** Decodes a message, or throws a `Fault` that names the expected type. */
export function decode<Schema extends DescMessage>(
  schema: Schema,
  bytes: Uint8Array,
  mostFields = MOST_FIELDS,
): MessageShape<Schema> {
  try {
    const isTooMuch = bytes.length > 2 * mostFields && hasTooMany(schema, bytes, mostFields);
    if (!isTooMuch) return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch (thrown) {
    const remedy = 'Send messages as proto/velda describes them.';
    throw new Fault('invalid', `The message is not a valid ${schema.typeName}.`, { cause: thrown, remedy });
  }
  const why = `The message has more than ${mostFields} fields.`;
  throw new Fault('invalid', why, { remedy: 'Send less in one message.' });
}

import { type DescField, type DescMessage, fromBinary, type MessageShape, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { Fault } from '#core/fault.ts';

// As many as decode within 50 ms on a slow core. A field takes two bytes or more.
const MOST_FIELDS = 50_000;
const DEEPEST = 100;

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

/** Whether decoding would make more than the limit: counting to it takes a fraction of the time. */
function hasTooMany(schema: DescMessage, bytes: Uint8Array): boolean {
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
      if (count > MOST_FIELDS || depth > DEEPEST) return true;
      const field = fields.get(number);
      if (!field || wire !== WireType.LengthDelimited) reader.skip(wire, number);
      else if (isOverWithin(field, depth)) return true;
    }
    return false;
  }

  return isOverIn(schema, bytes.length, 0);
}

/** Decodes a message, or throws a `Fault` that names the expected type. */
export function decode<Schema extends DescMessage>(schema: Schema, bytes: Uint8Array): MessageShape<Schema> {
  try {
    const isTooMuch = bytes.length > 2 * MOST_FIELDS && hasTooMany(schema, bytes);
    if (!isTooMuch) return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch (thrown) {
    const remedy = 'Send messages as proto/velda describes them.';
    throw new Fault('invalid', `The message is not a valid ${schema.typeName}.`, { cause: thrown, remedy });
  }
  const why = `The message has more than ${MOST_FIELDS} fields.`;
  throw new Fault('invalid', why, { remedy: 'Send less in one message.' });
}

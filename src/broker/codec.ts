import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { Fault } from '#core/fault.ts';

/** Reads a message, or throws a `Fault` that names what it should have been. */
export function decode<Schema extends DescMessage>(schema: Schema, bytes: Uint8Array): MessageShape<Schema> {
  try {
    return fromBinary(schema, bytes);
  } catch (thrown) {
    const remedy = 'Send messages as proto/velda describes them.';
    throw new Fault('invalid', `These bytes are no ${schema.typeName}.`, { cause: thrown, remedy });
  }
}

import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { Fault } from '#core/fault.ts';

/** Decodes a message, or throws a `Fault` that names the expected type. */
export function decode<Schema extends DescMessage>(schema: Schema, bytes: Uint8Array): MessageShape<Schema> {
  try {
    return fromBinary(schema, bytes);
  } catch (thrown) {
    const remedy = 'Send messages as proto/velda describes them.';
    throw new Fault('invalid', `The message is not a valid ${schema.typeName}.`, { cause: thrown, remedy });
  }
}

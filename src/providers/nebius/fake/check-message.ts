// Checks the bytes of a request against Nebius's own descriptors and their rules, in the words of protovalidate. It does
// not use our messages: a field that we number or name wrongly is refused here as Nebius would misread it.
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { Fault } from '#core/fault.ts';

/** One field, from the descriptors. */
export interface FieldDefinition {
  readonly name: string;
  readonly type: 'scalar' | 'map' | { readonly message: string } | { readonly values: readonly number[] };
  /** The number of the scalar's type in a descriptor. */
  readonly scalar?: number;
  readonly isList?: boolean;
  readonly required?: boolean;
  readonly longest?: number;
  readonly most?: number;
  readonly pattern?: string;
}

/** By number. */
export type MessageDefinition = Readonly<Record<number, FieldDefinition>>;

export type MessageDefinitions = Readonly<Record<string, MessageDefinition>>;

export interface Violation {
  readonly field: string;
  readonly message: string;
}

const STRING = 9;

interface Place {
  readonly definitions: MessageDefinitions;
  readonly path: string;
}

const below = (path: string, { name, isList }: FieldDefinition, at: number): string =>
  `${path === '' ? '' : `${path}.`}${name}${isList ? `[${at}]` : ''}`;

function textViolations({ longest, pattern, required }: FieldDefinition, field: string, text: string): Violation[] {
  if (required && text === '') return [{ field, message: 'value is required' }];
  if (longest !== undefined && text.length > longest)
    return [{ field, message: `value length must be at most ${longest} characters` }];
  if (pattern !== undefined && !new RegExp(pattern).test(text))
    return [{ field, message: `value does not match regex pattern \`${pattern}\`` }];
  return [];
}

/** One value, or the packed values of a list. */
function enumsAt(reader: BinaryReader, wire: WireType): number[] {
  if (wire !== WireType.LengthDelimited) return [reader.int32()];
  const packed = new BinaryReader(reader.bytes());
  const values: number[] = [];
  while (packed.pos < packed.len) values.push(packed.int32());
  return values;
}

/** What is wrong with the value that the reader is at; the reader is behind it afterwards. */
function valueViolations(
  reader: BinaryReader,
  definition: FieldDefinition,
  wire: WireType,
  place: Place & { readonly number: number },
): readonly Violation[] {
  const { type, scalar } = definition;
  const field = place.path;
  if (typeof type === 'object' && 'message' in type) {
    if (wire !== WireType.LengthDelimited) throw new Fault('invalid', `${field} is no message`);
    const inside = reader.bytes();
    const known = place.definitions[type.message];
    return known ? violationsIn(inside, known, place) : [];
  }
  if (typeof type === 'object') {
    const isKnown = enumsAt(reader, wire).every((value) => type.values.includes(value));
    return isKnown ? [] : [{ field, message: 'value must be one of the defined enum values' }];
  }
  if (scalar === STRING && wire !== WireType.LengthDelimited) throw new Fault('invalid', `${field} is no string`);
  if (scalar === STRING) return textViolations(definition, field, reader.string());
  reader.skip(wire, place.number);
  return [];
}

function missingIn(definition: MessageDefinition, counts: ReadonlyMap<number, number>, path: string): Violation[] {
  const prefix = path === '' ? '' : `${path}.`;
  return Object.entries(definition).flatMap(([number, { name, required, most }]): Violation[] => {
    const count = counts.get(Number(number)) ?? 0;
    if (required && count === 0) return [{ field: `${prefix}${name}`, message: 'value is required' }];
    if (most !== undefined && count > most)
      return [{ field: `${prefix}${name}`, message: `value must contain no more than ${most} item(s)` }];
    return [];
  });
}

/** All that is wrong with a message; bytes that are no such message throw. */
export function violationsIn(bytes: Uint8Array, definition: MessageDefinition, place: Place): readonly Violation[] {
  const reader = new BinaryReader(bytes);
  const counts = new Map<number, number>();
  const violations: Violation[] = [];
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const field = definition[number];
    const count = counts.get(number) ?? 0;
    counts.set(number, count + 1);
    if (field) {
      const path = below(place.path, field, count);
      violations.push(...valueViolations(reader, field, wire, { ...place, path, number }));
    } else {
      reader.skip(wire, number);
      // A server of gRPC overlooks such a field; here it shows that ours are not those of Nebius.
      violations.push({ field: `${place.path === '' ? 'request' : place.path}#${number}`, message: 'unknown field' });
    }
  }
  return [...violations, ...missingIn(definition, counts, place.path)];
}

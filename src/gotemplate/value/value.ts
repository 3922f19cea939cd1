// Values as Go sees them. What a JavaScript value stands for:
//   undefined   no value at all: a key that is not in its map (Go: the zero reflect.Value)
//   null        a nil of the type interface {}: a key that is there, with null
//   boolean, string
//   number      an int; always a safe integer
//   Int         any other integer type, and an int beyond 2^53
//   Float       a float64
//   GoMap, GoSlice, GoObject

export type IntType = 'int' | 'int32' | 'int64' | 'uint8' | 'uint64';

/** An integer of another type than int, or an int that a number cannot hold exactly. */
export class Int {
  readonly type: IntType;
  readonly value: bigint;
  constructor(type: IntType, value: bigint) {
    this.type = type;
    this.value = value;
  }
}

/** A float64. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** The element type of a map or slice, in Go's words. */
export type ElementType = 'interface {}' | 'string' | 'int' | 'uint8' | '[]interface {}';

/** A map with keys of type string; `set` and `merge` change it in place, as in Go. */
export class GoMap {
  readonly element: ElementType;
  readonly entries: Map<string, Value>;
  readonly isNil: boolean;
  #keys: readonly string[] | undefined;
  #keysOf = -1;
  constructor(entries: Map<string, Value>, element: ElementType = 'interface {}', isNil = false) {
    this.entries = entries;
    this.element = element;
    this.isNil = isNil;
  }

  /** The keys in the order of their bytes, as `range`, printing and JSON use them. */
  sortedKeys(): readonly string[] {
    // Code that removes a key and adds another calls `changed`; a grown or shrunk map shows by its size.
    if (this.#keys === undefined || this.#keysOf !== this.entries.size) {
      this.#keys = [...this.entries.keys()].sort(compareText);
      this.#keysOf = this.entries.size;
    }
    return this.#keys;
  }

  changed(): void {
    this.#keys = undefined;
  }
}

export class GoSlice {
  readonly element: ElementType;
  readonly items: Value[];
  readonly isNil: boolean;
  constructor(items: Value[], element: ElementType = 'interface {}', isNil = false) {
    this.items = items;
    this.element = element;
    this.isNil = isNil;
  }
}

/** A method as templates call it: with its values, by name. */
export interface GoMethod {
  readonly takes: readonly ('string' | 'version')[];
  readonly give: (...values: never[]) => Value;
}

/** A struct, or a pointer to one: a time, a version, a struct of the data. It prints by its own rule. */
export interface GoObject {
  readonly type: string;
  readonly kind: 'struct' | 'ptr' | 'int';
  readonly text: string;
  readonly fields: Readonly<Record<string, GoMethod>>;
  /** As encoding/json writes it, where that is not its text. */
  readonly json?: string | number;
  /** What it stands for: milliseconds since 1970, or the version. */
  readonly content: unknown;
}

export type Value = undefined | null | boolean | string | number | Int | Float | GoMap | GoSlice | GoObject;

// Only with surrogates does the order of UTF-16 differ from that of bytes.
const SURROGATE = /[\ud800-\udfff]/;

/** Compares as Go does: by bytes. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

const typeOfObject = (value: Int | Float | GoMap | GoSlice | GoObject): string => {
  if (value instanceof Float) return 'float64';
  if (value instanceof GoMap) return `map[string]${value.element}`;
  if (value instanceof GoSlice) return `[]${value.element}`;
  return value.type;
};

/** The name of the type, as `%T` prints it. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'number':
      return 'int';
    case 'undefined':
      return '<nil>';
    default:
      return value === null ? '<nil>' : typeOfObject(value);
  }
}

/** The name of the kind, as reflect names it. */
export function kindName(value: Value): string {
  if (value === undefined || value === null) return 'invalid';
  if (value instanceof GoMap) return 'map';
  if (value instanceof GoSlice) return 'slice';
  if (typeof value === 'object' && 'kind' in value) return value.kind;
  return typeName(value);
}

const INT64_BITS = 64;

/** An integer of that type; too large ones wrap around, as in Go. */
export function intOf(type: IntType, value: bigint): number | Int {
  const wrapped = type === 'uint64' ? BigInt.asUintN(INT64_BITS, value) : BigInt.asIntN(INT64_BITS, value);
  if (type === 'int' && wrapped >= Number.MIN_SAFE_INTEGER && wrapped <= Number.MAX_SAFE_INTEGER)
    return Number(wrapped);
  return new Int(type, wrapped);
}

export const int64 = (value: bigint): Int => intOf('int64', value) as Int;

export const mapOf = (entries: Iterable<readonly [string, Value]>): GoMap => new GoMap(new Map(entries));

export const isInteger = (value: Value): value is number | Int => typeof value === 'number' || value instanceof Int;

/** Whether Go's `if` takes it as true; Sprig's `empty` is the opposite. */
export function isTrue(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'undefined':
      return false;
    default:
      return value !== null && isTrueObject(value);
  }
}

function isTrueObject(value: Int | Float | GoMap | GoSlice | GoObject): boolean {
  if (value instanceof GoMap) return value.entries.size > 0;
  if (value instanceof GoSlice) return value.items.length > 0;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof Int) return value.value !== 0n;
  return true;
}

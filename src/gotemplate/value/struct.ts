import { GoMap, type GoMethod, type GoObject, type Value } from './value.ts';

/** A struct of the caller's data: a field that it does not have is refused, where a map would give nothing. */
export class GoStruct implements GoObject {
  readonly type: string;
  readonly kind = 'struct';
  readonly text: string;
  readonly fields: Readonly<Record<string, GoMethod>>;
  /** Its fields in their order. */
  readonly content: GoMap;
  constructor(type: string, fields: ReadonlyMap<string, Value>) {
    this.type = type;
    this.text = type;
    this.content = new GoMap(new Map(fields));
    this.fields = Object.fromEntries([...fields].map(([name, value]) => [name, { takes: [], give: () => value }]));
  }
}

/** A struct as the map of its fields; any other value as it is. */
export const withoutStruct = (value: Value): Value => (value instanceof GoStruct ? value.content : value);

import type { Clock } from '#core/clock.ts';
import type { RenderBudget } from '../limits.ts';
import type { GoMap, GoObject, Value } from '../value/value.ts';

/** The type of a parameter; `value` is Go's reflect.Value, which distinguishes no value from nil. */
export type Parameter = 'any' | 'value' | 'string' | 'int' | 'float64' | 'bool' | 'map' | 'time' | 'version';

/** How Go names the type of a parameter. */
export const PARAMETER_TYPES: Readonly<Record<Parameter, string>> = {
  any: 'interface {}',
  value: 'reflect.Value',
  string: 'string',
  int: 'int',
  float64: 'float64',
  bool: 'bool',
  map: 'map[string]interface {}',
  time: 'time.Time',
  version: '*semver.Version',
};

/** What a function may use beside its arguments. */
export interface TemplateRun {
  readonly budget: RenderBudget;
  readonly clock: Clock | undefined;
  readonly random: ((count: number) => Uint8Array) | undefined;
  /** Renders a template of the set. */
  include(name: string, data: Value): string;
  /** Renders a text as a template that sees those of the set. */
  renderText(text: string, data: Value): string;
}

// What a parameter is for the function: `any` is null where Go hands in nil.
interface Handed {
  any: Exclude<Value, undefined>;
  value: Value;
  string: string;
  int: number;
  float64: number;
  bool: boolean;
  map: GoMap;
  time: GoObject;
  version: GoObject | undefined;
}

type HandedAll<T extends readonly Parameter[]> = { [K in keyof T]: Handed[T[K]] };

/** A function that templates call by name. Its fixed arguments come first, then those beyond as one array, then the run. */
export interface GoFunction {
  readonly takes: readonly Parameter[];
  readonly rest: Parameter | undefined;
  /** `and` and `or` evaluate only as many arguments as they need. */
  readonly stopsAt?: boolean;
  readonly give: (...values: never[]) => Value;
}

export type Functions = Readonly<Record<string, GoFunction>>;

export function fn<const T extends readonly Parameter[]>(
  takes: T,
  give: (...values: [...HandedAll<T>, run: TemplateRun]) => Value,
): GoFunction {
  return { takes, rest: undefined, give: give as unknown as GoFunction['give'] };
}

/** A function with any number of further arguments. */
export function variadic<const T extends readonly Parameter[], R extends Parameter>(
  takes: T,
  rest: R,
  give: (...values: [...HandedAll<T>, further: Handed[R][], run: TemplateRun]) => Value,
): GoFunction {
  return { takes, rest, give: give as unknown as GoFunction['give'] };
}

import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { Section } from '#core/feature.ts';
import {
  type AnyKind,
  type Context,
  type ContractOf,
  FAMILIES,
  type Family,
  type Kinds,
  type Provider,
} from '#core/provider.ts';
import type { SchemaNotes } from '#core/schema.ts';
import { toSnake } from './keys.ts';
import { QUIET } from './parse.ts';

/** The kinds of all providers by family and config key; of families that nothing uses yet there may be none. */
export type KnownKinds = { readonly [F in Family]?: Kinds<ContractOf<F>> } & {
  readonly [F in 'backends' | 'sources']: Kinds<ContractOf<F>>;
} & {
  /** The sections of the server's file that features bring. */
  readonly sections?: readonly Section<unknown>[];
};

const FAMILY_NAMES = Object.keys(FAMILIES) as Family[];

/** Joins what the providers offer; a key that two of them claim is refused. */
export function knownKinds(providers: readonly Provider[], sections: readonly Section<unknown>[] = []): KnownKinds {
  const joined = Object.fromEntries(FAMILY_NAMES.map((family) => [family, joinedKinds(providers, family)]));
  const whole = FAMILY_NAMES.map((family) => [
    family,
    mapKinds(joined[family] ?? {}, (kind) => withInner(kind, joined)),
  ]);
  return { ...(Object.fromEntries(whole) as KnownKinds), sections };
}

function joinedKinds(providers: readonly Provider[], family: Family): Kinds<unknown> {
  const kinds = new Map<string, { readonly by: string; readonly kind: AnyKind<unknown> }>();
  for (const provider of providers) {
    for (const [key, kind] of Object.entries<AnyKind<unknown>>(provider[family] ?? {})) {
      const first = kinds.get(key);
      if (first) {
        const message = `The providers ${first.by} and ${provider.id} both define the ${FAMILIES[family]} ${key}.`;
        throw new Fault('invalid', message);
      }
      kinds.set(key, { by: provider.id, kind: withVariables(kind, provider) });
    }
  }
  return Object.fromEntries([...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, { kind }]) => [key, kind]));
}

function mapKinds(kinds: Kinds<unknown>, change: (kind: AnyKind<unknown>) => AnyKind<unknown>): Kinds<unknown> {
  return Object.fromEntries(Object.entries(kinds).map(([key, kind]) => [key, change(kind)]));
}

/** What a provider may see: the variables that it declares, and what its own kinds share. */
function scopeOf(context: Context, { id, variables = [] }: Provider): Context {
  return {
    ...context,
    variable: (name) => (variables.includes(name) ? context.variable?.(name) || undefined : undefined),
    shared: (key, make) => context.shared(`${id} ${key}`, make),
  };
}

/** A kind finds in the environment what its provider declared, and nothing else. */
function withVariables(kind: AnyKind<unknown>, provider: Provider): AnyKind<unknown> {
  return { ...kind, open: (config, context) => kind.open(config, scopeOf(context, provider)) };
}

/** Puts one optional key for each kind of the family that a schema asks for beside its own keys. */
function withInner(kind: AnyKind<unknown>, joined: Readonly<Record<string, Kinds<unknown>>>): AnyKind<unknown> {
  const notes: SchemaNotes & object = z.globalRegistry.get(kind.config) ?? {};
  const family = notes.kindsOf;
  if (family === undefined) return kind;
  // Plug-ins may bring a zod of their own, so this goes by what the schema can do.
  if (!('safeExtend' in kind.config)) {
    throw new Fault('internal', 'A schema that holds kinds of another family must be an object without transforms.');
  }
  const inner = joined[family] ?? {};
  const noun = FAMILIES[family as Family];
  const keys = Object.entries(kindKeys(inner, noun, 'operator')).map(([key, schema]) => {
    // How a cluster is reached forms no machine; another cluster is another cloud.
    return [key, schema.meta({ ...z.globalRegistry.get(schema), operatorOnly: true, shapes: false })];
  });
  const config = (kind.config as z.ZodObject)
    .safeExtend(Object.fromEntries(keys))
    .superRefine(atMostOne(inner, noun), WHEN_MAP)
    .meta({ ...notes });
  return { ...kind, config };
}

/** One kind that someone named, with its checked configuration. */
export interface Chosen {
  readonly kind: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Who wrote a document: foreign ones may not name what runs code on the server or reads its files. */
export type Trust = 'operator' | 'foreign';

const lent = new WeakSet<object>();

/** The kinds for a source whose documents may name these operator-only ones all the same, with every key of theirs. */
export function lendKinds<I>(kinds: Kinds<I>, names: readonly string[]): Kinds<I> {
  const borrowed = Object.entries(kinds).map(([key, kind]) => {
    if (!names.includes(key)) return [key, kind] as const;
    const copy: AnyKind<I> = { ...kind, trust: 'any source' };
    lent.add(copy);
    return [key, copy] as const;
  });
  return Object.fromEntries(borrowed);
}

/** The keys under which kinds are configured, for a schema of which exactly one must be there. */
export function kindKeys<I>(kinds: Kinds<I>, noun: string, trust: Trust): Readonly<Record<string, z.ZodType>> {
  const keys = Object.entries(kinds).map(([key, kind]) => {
    const isRefused = trust === 'foreign' && kind.trust === 'operator only';
    const config = isRefused
      ? refused(key, noun)
      : trust === 'foreign' && !lent.has(kind)
        ? ofOthers(kind.config)
        : kind.config;
    return [key, config.optional().describe(kind.summary)];
  });
  return Object.fromEntries(keys);
}

/** Refuses the keys that only the operator may write, where they were written: a default is not. */
const ofOthers = (config: z.ZodType): z.ZodType => config.meta({ ...z.globalRegistry.get(config), ofOthers: true });

function refused(key: string, noun: string): z.ZodType {
  const error = `the ${noun} ${toSnake(key)} runs on the server itself, so only the operator's own file may use it`;
  return z
    .looseObject({})
    .refine(() => false, error)
    .meta({ literal: true });
}

/** Looks also at a map that has other faults, so that all are reported at once. */
export const WHEN_MAP = { when: ({ value }: z.core.ParsePayload) => typeof value === 'object' && value !== null };

/** Which of the kinds are named there. */
export function namedKinds<I>(kinds: Kinds<I>, value: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(kinds).filter((key) => value[key] !== undefined);
}

/** For `superRefine`: exactly one of the kinds must be named. */
export function exactlyOne<I>(kinds: Kinds<I>, noun: string) {
  return (value: object, context: z.RefinementCtx): void => {
    const named = namedKinds(kinds, value as Readonly<Record<string, unknown>>);
    if (named.length === 1) return;
    const known = Object.keys(kinds).map(toSnake).join(', ') || 'none is installed';
    const message =
      named.length === 0 ? `name one ${noun}: ${known}` : `names ${named.map(toSnake).join(' and ')}; keep one ${noun}`;
    context.addIssue({ code: 'custom', message, params: { [QUIET]: true } });
  };
}

/** For `superRefine`: not more than one of the kinds may be named. */
function atMostOne(kinds: Kinds<unknown>, noun: string) {
  return (value: object, context: z.RefinementCtx): void => {
    const named = namedKinds(kinds, value as Readonly<Record<string, unknown>>);
    if (named.length <= 1) return;
    const message = `names ${named.map(toSnake).join(' and ')}; keep one ${noun}`;
    context.addIssue({ code: 'custom', message, params: { [QUIET]: true } });
  };
}

/** A map with exactly one key, the kind, whose value is its configuration. */
export function oneKind<I>(kinds: Kinds<I>, noun: string, trust: Trust): z.ZodType<Chosen> {
  return oneKindWith(kinds, { noun, trust, fields: {} });
}

/** The same with fields beside the kind, which come out as they are. */
export function oneKindWith<I, Fields extends z.ZodRawShape>(
  kinds: Kinds<I>,
  { noun, trust, fields }: { readonly noun: string; readonly trust: Trust; readonly fields: Fields },
): z.ZodType<Chosen & z.output<z.ZodObject<Fields>>> {
  const shape: z.ZodRawShape = { ...kindKeys(kinds, noun, trust), ...fields };
  return z
    .object(shape)
    .superRefine(exactlyOne(kinds, noun), WHEN_MAP)
    .transform((value) => {
      const beside = Object.fromEntries(Object.keys(fields).map((key) => [key, value[key]]));
      return { ...(beside as z.output<z.ZodObject<Fields>>), ...chosenOf(kinds, value) };
    })
    .meta({ noun });
}

/** The kind that is there, once `exactlyOne` has let it pass. */
export function chosenOf<I>(kinds: Kinds<I>, value: Readonly<Record<string, unknown>>): Chosen {
  const [kind = ''] = namedKinds(kinds, value);
  return { kind, config: value[kind] as Chosen['config'] };
}

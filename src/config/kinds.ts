import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { AnyKind, Backend, Kinds, Provider, Source } from '#core/provider.ts';
import { toSnake } from './keys.ts';
import { withoutOperatorKeys } from './operator-only.ts';
import { QUIET } from './parse.ts';

/** The kinds of all providers by their config keys. */
export interface KnownKinds {
  readonly backends: Kinds<Backend>;
  readonly sources: Kinds<Source>;
}

/** Joins what the providers offer; a key that two of them claim is refused. */
export function knownKinds(providers: readonly Provider[]): KnownKinds {
  return {
    backends: joined(providers, 'backend', (provider) => provider.backends),
    sources: joined(providers, 'source', (provider) => provider.sources),
  };
}

function joined<I>(
  providers: readonly Provider[],
  noun: string,
  kindsOf: (provider: Provider) => Kinds<I> | undefined,
) {
  const kinds = new Map<string, { readonly by: string; readonly kind: AnyKind<I> }>();
  for (const provider of providers) {
    for (const [key, kind] of Object.entries(kindsOf(provider) ?? {})) {
      const first = kinds.get(key);
      if (first)
        throw new Fault('invalid', `The providers ${first.by} and ${provider.id} both bring the ${noun} ${key}.`);
      kinds.set(key, { by: provider.id, kind });
    }
  }
  return Object.fromEntries([...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, { kind }]) => [key, kind]));
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
        ? withoutOperatorKeys(kind.config)
        : kind.config;
    return [key, config.optional().describe(kind.summary)];
  });
  return Object.fromEntries(keys);
}

function refused(key: string, noun: string): z.ZodType {
  const error = `the ${noun} ${toSnake(key)} acts on the server itself, so only the operator's own file may name it`;
  return z
    .looseObject({})
    .refine(() => false, error)
    .meta({ literal: true });
}

/** Looks also at a map that has other faults, so that all are told at once. */
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

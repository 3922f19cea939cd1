// The backends of a pool: what makes its machines, and on what terms.
import { z } from 'zod';
import type { Offer, Terms } from '#core/pool.ts';
import type { Backend, Kinds } from '#core/provider.ts';
import { count } from '#core/schema.ts';
import { canonicalJson, shortHash } from './canonical.ts';
import { type Chosen, oneKindWith, type Trust } from './kinds.ts';
import { objectFieldsOf, type Schema, unwrap } from './schema-walk.ts';

const terms = {
  pricePerHour: z.number().min(0).optional().describe('Price of one machine, in dollars an hour.'),
  maxAgents: count()
    .optional()
    .describe('Largest number of workers from this backend; `max_agents` of the pool limits the sum.'),
};

/** A backend that a pool names, with its terms; one alone has none. */
export type OfferedBackend = Chosen & Terms;

export function backendList(kinds: Kinds<Backend>, trust: Trust): z.ZodType<OfferedBackend[]> {
  return z
    .array(oneKindWith(kinds, { noun: 'backend', trust, fields: terms }))
    .min(1)
    .superRefine(refuseTwins)
    .describe('Instead of `backend`: several backends, tried in this order when one has no capacity.');
}

function refuseTwins(backends: readonly Chosen[], context: z.RefinementCtx): void {
  if (backends.length < 2) return;
  const first = new Map<string, number>();
  for (const [at, backend] of backends.entries()) {
    const { id } = offerOf(backend);
    const twin = first.get(id);
    if (twin === undefined) first.set(id, at);
    else
      context.addIssue({ code: 'custom', path: [at], message: `is the same as backends[${twin}]; keep one of them` });
  }
}

interface Priced {
  readonly backend?: Chosen | undefined;
  readonly backends?: readonly OfferedBackend[] | undefined;
  readonly maxPricePerHour?: number | undefined;
}

/** For `superRefine`: a limit in dollars needs the price of every offer. */
export function checkPrices({ backend, backends, maxPricePerHour }: Priced, context: z.RefinementCtx): void {
  if (typeof maxPricePerHour !== 'number') return;
  if (backend) {
    const message = 'needs a price: write backends: [{…, price_per_hour: 1.25}] instead of backend';
    context.addIssue({ code: 'custom', path: ['maxPricePerHour'], message });
  }
  if (!Array.isArray(backends)) return;
  for (const [at, { pricePerHour }] of (backends as readonly OfferedBackend[]).entries()) {
    if (pricePerHour !== undefined) continue;
    const message = 'is required with max_price_per_hour';
    context.addIssue({ code: 'custom', path: ['backends', at, 'pricePerHour'], message });
  }
}

/** Equal kind and configuration give an equal id. */
export function offerOf({ kind, config }: Chosen): Offer {
  return { id: shortHash(kind, canonicalJson(config)), kind, config };
}

/** The part of a checked configuration that forms machines: no credential, no limit, nothing without effect. */
export function shapePart(schema: Schema, value: unknown): unknown {
  const unwrapped = unwrap(schema);
  const { def } = unwrapped;
  if (def.type === 'union') return def.options.reduce((kept: unknown, option) => shapePart(option, kept), value);
  if (Array.isArray(value)) return def.type === 'array' ? value.map((item) => shapePart(def.element, item)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const keys = objectFieldsOf(unwrapped);
  const schemaOf = (key: string): Schema | undefined => (def.type === 'record' ? def.valueType : keys?.[key]);
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const inside = schemaOf(key);
    if (!inside) return [[key, inner]];
    return formsMachines(inside) ? [[key, shapePart(inside, inner)]] : [];
  });
  return Object.fromEntries(entries);
}

function formsMachines(schema: Schema): boolean {
  const { notes } = unwrap(schema);
  return notes.shapes !== false && !notes.secret && notes.unused === undefined;
}

/** Equal for offers that make equal machines: rotating a credential or changing a limit replaces no worker. */
export function offerShapes(kinds: Kinds<Backend>): (offer: Offer) => string {
  const known = new Map<string, string>();
  return ({ id, kind, config }) => {
    let shape = known.get(id);
    if (shape === undefined) {
      const schema = kinds[kind]?.config;
      shape = schema ? shortHash(kind, canonicalJson(shapePart(schema, config))) : id;
      known.set(id, shape);
    }
    return shape;
  };
}

/** What the pool says about its offers, if anything. */
export function termsOf(backends: readonly OfferedBackend[]): { readonly terms?: Readonly<Record<string, Terms>> } {
  const said = backends.flatMap((backend) => {
    const { pricePerHour, maxAgents } = backend;
    const its = {
      ...(pricePerHour === undefined ? {} : { pricePerHour }),
      ...(maxAgents === undefined ? {} : { maxAgents }),
    };
    return Object.keys(its).length > 0 ? [[offerOf(backend).id, its] as const] : [];
  });
  return said.length > 0 ? { terms: Object.fromEntries(said) } : {};
}

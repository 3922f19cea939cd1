// How Mithril refuses: FastAPI's form, a text or a list of what is wrong with which field.
import { openRequestCheck, type RequestFlaw } from '#fakes/check-request.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { definition } from './definition.gen.ts';
import type { MithrilCall } from './wire.ts';

interface Detail {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

export interface FieldRefusal extends Refusal {
  readonly details: readonly Detail[];
}

const UNPROCESSABLE = 422;

function refusedFor(details: readonly Detail[]): FieldRefusal {
  const text = details.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
  return Object.assign(refusal('validation', text, UNPROCESSABLE), { details });
}

/** A refusal that names the field of the body. */
export const wrongField = (path: readonly (string | number)[], msg: string): FieldRefusal =>
  refusedFor([{ loc: ['body', ...path], msg, type: 'value_error' }]);

export const unauthorized = (): Refusal => refusal('unauthorized', 'Invalid authentication credentials', 401);
export const noAccess = (): Refusal => refusal('forbidden', 'You do not have access to this project', 403);
export const absent = (what: string): Refusal => refusal('not_found', `${what} not found`, 404);
export const tooMany = (): Refusal => refusal('too_many_requests', 'Too many requests', 429);

// The words of pydantic, which reads requests for FastAPI.
const TYPES: Readonly<Record<string, readonly [type: string, what: string]>> = {
  string: ['string_type', 'string'],
  int: ['int_type', 'integer'],
  number: ['int_type', 'integer'],
  boolean: ['bool_type', 'boolean'],
  array: ['list_type', 'list'],
  object: ['model_attributes_type', 'dictionary'],
};

function detailOf({ at, kind, path, expected }: RequestFlaw): Detail {
  const loc = [at, ...path];
  if (kind === 'missing') return { loc, msg: 'Field required', type: 'missing' };
  if (kind === 'unknown') return { loc, msg: 'Extra inputs are not permitted', type: 'extra_forbidden' };
  if (Array.isArray(expected))
    return { loc, msg: `Input should be ${expected.map((one) => `'${one}'`).join(' or ')}`, type: 'enum' };
  const [type, what] = TYPES[String(expected)] ?? ['value_error', 'value'];
  return { loc, msg: `Input should be a valid ${what}`, type };
}

const check = openRequestCheck(definition);

/** Refuses a request that does not fit Mithril's definition of it. */
export function refuseFlaws({ action, query, body }: MithrilCall): void {
  const flaws = check(action, { query, body });
  if (flaws.length > 0) throw refusedFor(flaws.map(detailOf));
}

// Refuses calls that do not fit the models of AWS's services, each service in its own words.
import { openRequestCheck, type RequestFlaw } from '#fakes/check-request.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { definition } from './definition.gen.ts';
import { type Params, parseParams } from './wire/params.ts';
import type { AwsCall, Service } from './wire/read-call.ts';

const check = openRequestCheck(definition);

const isNumber = (text: string): boolean => /^[0-9]+$/.test(text);

/** A form as lists, structures and texts. */
function plainOf({ text, under }: Params): unknown {
  if (under.size === 0) return text ?? '';
  const entries = [...under];
  if (!entries.every(([name]) => isNumber(name)))
    return Object.fromEntries(entries.map(([name, one]) => [name, plainOf(one)]));
  return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, one]) => plainOf(one));
}

/** `TagSpecification.1.Tag.2.Key`, as a form has it. */
const inForm = ({ path }: RequestFlaw): string =>
  path.map((key) => (typeof key === 'number' ? key + 1 : key)).join('.');

/** `parameterFilters.1.member.key`, as SSM writes it. */
const inModel = ({ path }: RequestFlaw): string =>
  path.map((key) => (typeof key === 'number' ? `${key + 1}.member` : key[0]?.toLowerCase() + key.slice(1))).join('.');

const valuesOf = ({ expected }: RequestFlaw): string => (Array.isArray(expected) ? expected.join(', ') : '');

function ec2Words(flaw: RequestFlaw): Refusal {
  const parameter = inForm(flaw);
  if (flaw.kind === 'unknown') return refusal('UnknownParameter', `The parameter ${parameter} is not recognized`);
  if (flaw.kind === 'missing')
    return refusal('MissingParameter', `The request must contain the parameter ${parameter}`);
  return refusal('InvalidParameterValue', `Value (${flaw.received}) for parameter ${parameter} is invalid.`);
}

// SSM itself overlooks a field that it does not know; here it shows that ours are not those of AWS.
function ssmWords(flaw: RequestFlaw): Refusal {
  const place = inModel(flaw);
  if (flaw.kind === 'unknown') return refusal('ValidationException', `Unknown parameter in input: "${place}"`);
  if (flaw.kind === 'type')
    return refusal('SerializationException', `${typeof flaw.received} value cannot be converted at ${place}`);
  const [value, constraint] =
    flaw.kind === 'missing'
      ? ['null', 'Member must not be null']
      : [`'${flaw.received}'`, `Member must satisfy enum value set: [${valuesOf(flaw)}]`];
  const text = `1 validation error detected: Value ${value} at '${place}' failed to satisfy constraint: ${constraint}`;
  return refusal('ValidationException', text);
}

function ecsWords(flaw: RequestFlaw): Refusal {
  const place = inModel(flaw);
  if (flaw.kind === 'missing') return refusal('ClientException', `${place} must not be null.`);
  if (flaw.kind === 'type') return refusal('SerializationException', `Unexpected field type at ${place}`);
  return refusal('InvalidParameterException', `The value of ${place} is ${flaw.kind}.`);
}

const WORDS: Readonly<Record<Service, (flaw: RequestFlaw) => Refusal>> = {
  ec2: ec2Words,
  ssm: ssmWords,
  ecs: ecsWords,
  sts: (flaw) => refusal('ValidationError', `The parameter ${inForm(flaw)} is ${flaw.kind}.`),
  eks: (flaw) => refusal('InvalidParameterException', `The parameter ${inForm(flaw)} is ${flaw.kind}.`),
};

const FORMS = new Set<Service>(['ec2', 'sts']);

/** Unknown, missing and wrong parameters of an action that the fake knows. */
export function refuseFlaws({ service, action, body }: AwsCall): void {
  const isForm = FORMS.has(service);
  const sent =
    isForm && Object.keys(body).length > 0 ? plainOf(parseParams(Object.entries(body) as [string, string][])) : body;
  const [flaw] = check(`${service}.${action}`, { query: {}, body: sent });
  if (flaw) throw WORDS[service](flaw);
}

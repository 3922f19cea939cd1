import { createHash } from 'node:crypto';
import { refusal } from '#fakes/refusal.ts';
import type { Parameter, ParameterVersion, Region } from '../region.ts';
import type { Ask, Principal } from '../world.ts';

export type Answer = Readonly<Record<string, unknown>>;

export function textOf(body: Answer, name: string): string | undefined {
  const value = body[name];
  return typeof value === 'string' ? value : undefined;
}

export function invalid(message: string): Error {
  return refusal('ValidationException', message);
}

export function arnOf({ world, region }: Ask, name: string): string {
  return `arn:aws:ssm:${region.name}:${world.account}:parameter${name.startsWith('/') ? '' : '/'}${name}`;
}

/** A parameter may also be named by its ARN, and one of its versions by `name:3`. */
export function parseSelector(text: string): { readonly name: string; readonly selector: string | undefined } {
  const bare = text.replace(/^arn:aws:ssm:[^:]*:[^:]*:parameter/, '');
  const [name = '', selector] = bare.split(':');
  return { name, selector };
}

export const latest = ({ versions }: Parameter): ParameterVersion => versions.at(-1) as ParameterVersion;

export function find(
  region: Region,
  text: string,
): { readonly parameter: Parameter; readonly version: ParameterVersion } {
  const { name, selector } = parseSelector(text);
  const parameter = region.parameters.get(name);
  if (!parameter) throw refusal('ParameterNotFound', `Parameter ${name} not found.`);
  if (selector === undefined) return { parameter, version: latest(parameter) };
  const version = parameter.versions.find((one) => String(one.version) === selector);
  if (version) return { parameter, version };
  throw refusal(
    'ParameterVersionNotFound',
    `Systems Manager could not find version ${selector} of ${name}. Verify the version and try again.`,
  );
}

/** What a value looks like to a caller that does not ask for decryption, or may not. */
const sealed = (value: string): string => `AQICAHh${createHash('sha256').update(value).digest('base64')}`;

function shownValue({ kind }: Parameter, value: string, { principal, wantsPlain }: Reader): string {
  if (kind !== 'SecureString') return value;
  if (!wantsPlain) return sealed(value);
  if (principal.may('kms:Decrypt')) return value;
  throw refusal(
    'AccessDeniedException',
    'The ciphertext refers to a customer master key that does not exist, does not exist in this region, or you are not allowed to access.',
  );
}

export interface Reader {
  readonly principal: Principal;
  readonly wantsPlain: boolean;
}

export const readerOf = ({ principal, body }: Ask): Reader => ({ principal, wantsPlain: body.WithDecryption === true });

/** Times of this protocol are seconds. */
export const seconds = (ms: number): number => ms / 1_000;

export function parameterAnswer(ask: Ask, parameter: Parameter, version = latest(parameter)): Answer {
  return {
    Name: parameter.name,
    Type: parameter.kind,
    Value: shownValue(parameter, version.value, readerOf(ask)),
    Version: version.version,
    LastModifiedDate: seconds(version.atMs),
    ARN: arnOf(ask, parameter.name),
    DataType: parameter.dataType,
  };
}

/** All names in order, so that a page of a large store costs a page. */
export function orderedNames(region: Region): readonly string[] {
  region.parameterNames ??= [...region.parameters.keys()].sort();
  return region.parameterNames;
}

export function setParameter(region: Region, parameter: Parameter): void {
  if (!region.parameters.has(parameter.name)) region.parameterNames = undefined;
  region.parameters.set(parameter.name, parameter);
}

export function dropParameter(region: Region, name: string): boolean {
  region.parameterNames = undefined;
  return region.parameters.delete(name);
}

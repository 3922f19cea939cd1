// What a class is given, checked: every fault names the option as its caller writes it.
import type { z } from 'zod';
import { offerFor } from '#computers/offer.ts';
import type { PlatformContext, SharedOptions } from '#computers/platforms/platform.ts';
import { type PlatformPlacement, platformNamed } from '#computers/platforms/platforms.ts';
import { toSnake } from '#config/keys.ts';
import type { KnownKinds } from '#config/kinds.ts';
import { parseWith } from '#config/parse.ts';
import { objectFieldsOf, unwrap } from '#config/schema-walk.ts';
import { nodeOf } from '#config/tree.ts';
import { DAY_MS } from '#core/clock.ts';
import { COMPUTER_NAME } from '#core/computer.ts';
import { parseDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { ComputerOptions } from './options.ts';

/** What a class is, besides what its platform says. */
export interface ClassRules {
  /** By what its users write as `platform`, the name among the platforms of `computers`; one alone is not written. */
  readonly platforms: Readonly<Record<string, string>>;
  /** Its options, whichever platform has them. */
  readonly keys: readonly string[];
  readonly timeoutSeconds: number;
  /** The option that names an image which must have the agent. */
  readonly image?: string;
  /** Where they differ from those of the platform. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

export interface ReadOptions {
  /** Those of the class with their defaults. */
  readonly values: Readonly<Record<string, unknown>> & SharedOptions;
  readonly platform: string;
  /** Of the platform alone. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly backend: PlatformPlacement['backend'];
  readonly name: string;
  readonly ttlMs: number | 'off';
}

const LIBRARY_KEYS = ['port', 'maxRetries', 'timeout', 'name', 'stateDir', 'ttl', 'log', 'platform'];

type Given = ComputerOptions & Readonly<Record<string, unknown>>;

function mustKnow(className: string, given: Given, keys: readonly string[]): void {
  for (const key of Object.keys(given)) {
    if (keys.includes(key)) continue;
    const meant = nearest(key, keys);
    throw new Fault('invalid', `${className} has no option ${key}.`, {
      at: key,
      remedy: meant === undefined ? `Give ${keys.join(', ')}.` : `Did you mean ${meant}?`,
    });
  }
}

function platformOf(className: string, { platforms }: ClassRules, given: unknown): string {
  const [first = ''] = Object.keys(platforms);
  const written = given === undefined ? first : String(given);
  const found = Object.hasOwn(platforms, written) ? platforms[written] : undefined;
  if (found !== undefined) return found;
  const meant = nearest(written, Object.keys(platforms));
  throw new Fault('invalid', `${className} has no platform ${written}.`, {
    at: 'platform',
    remedy: meant === undefined ? `Give one of ${Object.keys(platforms).join(', ')}.` : `Did you mean ${meant}?`,
  });
}

/** The same fault with the options as programs write them. */
function inCamelCase(fault: Fault, keys: readonly string[]): Fault {
  const rewrite = (text: string): string =>
    keys.reduce(
      (kept, key) => kept.replaceAll(new RegExp(String.raw`(?:\boptions\.)?\b${toSnake(key)}\b`, 'g'), key),
      text,
    );
  const { kind, message, at, remedy } = fault;
  return new Fault(kind, rewrite(message), { at: at && rewrite(at), remedy: rewrite(remedy) });
}

function ttlOf(ttl: unknown): number | 'off' {
  if (ttl === undefined) return DAY_MS;
  if (ttl === 'off') return 'off';
  const more = { at: 'ttl', remedy: 'Give a time like 8h, or off.' };
  try {
    const ms = parseDuration(String(ttl));
    if (ms > 0) return ms;
  } catch (thrown) {
    throw new Fault('invalid', `ttl: ${Fault.from(thrown).message}`, more);
  }
  throw new Fault('invalid', `ttl is ${ttl}.`, more);
}

function nameOf({ name, containerName }: Given, platform: string): string {
  const written = name ?? containerName ?? platform.replaceAll('_', '-');
  if (COMPUTER_NAME.test(String(written))) return String(written);
  throw new Fault('invalid', `"${written}" is no name of a computer.`, {
    at: 'name',
    remedy: 'Give a `name` of small letters, digits and hyphens, at most 63, beginning with a letter.',
  });
}

type Schema = z.ZodType<SharedOptions & Readonly<Record<string, unknown>>>;

/** Those who know the classes in Python give a port first. */
export function mustBeObject(className: string, given: unknown): void {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return;
  throw new Fault('invalid', `${className} takes its options as an object, not ${JSON.stringify(given)}.`, {
    remedy: `Write them by name: new ${className}({ port: 8000 }).`,
  });
}

export interface OptionsContext extends PlatformContext {
  readonly kinds: KnownKinds;
}

export function readOptions(
  className: string,
  rules: ClassRules,
  written: Given,
  { kinds, ...context }: OptionsContext,
): ReadOptions {
  const isGiven = ([, value]: [string, unknown]): boolean => value !== undefined;
  const given: Given = { ...rules.defaults, ...Object.fromEntries(Object.entries(written).filter(isGiven)) };
  const platform = platformOf(className, rules, given.platform);
  const schema = platformNamed(platform).options as Schema;
  const ofPlatform = Object.keys(objectFieldsOf(unwrap(schema)) ?? {});
  const keys = [...new Set([...LIBRARY_KEYS, ...rules.keys, ...ofPlatform])];
  mustKnow(className, given, keys);
  const own = Object.fromEntries(Object.entries(given).filter(([key]) => ofPlatform.includes(key)));
  const { value, problems } = parseWith(schema, nodeOf(own));
  if (problems)
    throw new Fault('invalid', problems.map(({ path, message }) => `${path}: ${message}`).join('\n'), {
      at: problems[0]?.path,
      remedy: `Correct the options of ${className}.`,
    });
  try {
    const backend = platformNamed(platform).backend(value, context);
    offerFor(kinds, backend, { platform, options: own });
    const values = { ...Object.fromEntries(rules.keys.map((key) => [key, given[key]])), ...value };
    const name = nameOf({ ...values, name: given.name }, platform);
    return { values, platform, own, backend, name, ttlMs: ttlOf(given.ttl) };
  } catch (thrown) {
    throw inCamelCase(Fault.from(thrown), keys);
  }
}

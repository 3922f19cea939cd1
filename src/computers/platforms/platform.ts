// What a platform is: options as its users know them, and the backend that they come to. Pure.
import { z } from 'zod';
import { Fault } from '#core/fault.ts';

/** What a platform may know besides its options. */
export interface PlatformContext {
  /** A variable of the environment, where an option was left out. Empty counts as absent. */
  variable(name: string): string | undefined;
  /** The image of the agent in this version, as `muster image build docker` names it: `muster-agent:0.1.0`. */
  readonly agentImage: string;
}

/** The options that every platform has. */
export interface SharedOptions {
  readonly port: number;
  readonly maxRetries: number;
  /** In seconds. */
  readonly timeout: number;
}

/** One place that computers can be on. */
export interface Platform<Options extends SharedOptions = SharedOptions> {
  readonly summary: string;
  /** It runs code on the server's own machine or in its cluster, or as an account of the cloud that may have rights. */
  readonly needsAdmin: boolean;
  readonly options: z.ZodType<Options>;
  /** A backend as a pool names it: `{ docker: { image: … } }`. Throws a `Fault` for each option that is needed. */
  backend(options: Options, context: PlatformContext): Readonly<Record<string, unknown>>;
}

const HIGHEST_PORT = 65_535;

/** Options come as text from a command line, and as numbers from programs. */
export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  z
    .union([z.number(), z.string()])
    .transform((given) => Number(given))
    .pipe(z.int().min(least).max(most));

/** A list, or one text with commas. */
export const textList = () =>
  z
    .union([z.array(z.string().min(1)), z.string().transform((given) => given.split(',').map((one) => one.trim()))])
    .pipe(z.array(z.string().min(1)).min(1));

/** A place of a cloud becomes part of the address that signed requests go to: nothing else may be written there. */
export const placeName = () =>
  z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9 -]{0,61}[A-Za-z0-9])?$/, 'must be letters, digits and hyphens');

export const sharedFields = (timeoutSeconds: number) => ({
  port: wholeNumber(1, HIGHEST_PORT).default(8000).describe('Port that the computer serves `/health` on.'),
  maxRetries: wholeNumber(1, 100).default(3).describe('How many launches the platform may refuse before it fails.'),
  timeout: wholeNumber(1, 86_400).default(timeoutSeconds).describe('Seconds that it may take until it runs.'),
});

/** The option, or the variable that may stand for it, or a `Fault` that names both. */
export function needed(
  option: string,
  value: string | undefined,
  { platform, variable, context }: { platform: string; variable?: string; context: PlatformContext },
): string {
  const found = value ?? (variable === undefined ? undefined : context.variable(variable));
  if (found) return found;
  const orVariable = variable === undefined ? '' : `, or set ${variable}`;
  throw new Fault('invalid', `The platform ${platform} needs ${option}.`, {
    at: `options.${option}`,
    remedy: `Give ${option}${orVariable}.`,
  });
}

/** Leaves out what is undefined: a key without a value is not the same as an absent key. */
export const present = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

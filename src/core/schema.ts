// Building blocks for configuration schemas. Keys are camelCase here; the config edge maps what users write.
import { isIP } from 'node:net';
import { z } from 'zod';
import { formatDuration, parseDuration } from './duration.ts';
import { Fault } from './fault.ts';

/** What a schema's `.meta()` may say to the config edge beside its description. */
export interface SchemaNotes {
  /** Never shown; `file:/path` reads it from a file. */
  readonly secret?: boolean;
  /** Never shown, since it may be a secret; but taken as it stands, `file:` too. */
  readonly hidden?: boolean;
  /** Taken as it stands: `${…}` in it belongs to a shell or to another reader. */
  readonly literal?: boolean;
  /** A plain number or word counts as the text that was written: `1.10` stays `1.10`. */
  readonly sourceText?: boolean;
  /** A file of the server; relative to the file that names it. */
  readonly filePath?: boolean;
  /** Accepted and without effect; says why. */
  readonly unused?: string;
  /** `false`: forms no machine, so that changing it replaces none: limits, addresses. Secrets never do. */
  readonly shapes?: false;
  /** Refused in documents of others, though they may name the kind: an address that credentials are sent to, or for the reason given. */
  readonly operatorOnly?: boolean | string;
  /** Documents of others are read by it: keys of the operator are refused in it, at any depth. */
  readonly ofOthers?: boolean;
  /** At most one kind of that family stands beside the object's own keys, and only the operator may name it: `{ namespace, gke: {…} }`. */
  readonly kindsOf?: string;
  /** What the keys of this object name, for messages: `backend`. */
  readonly noun?: string;
  /** For the reference, where the default does not stand in the schema. */
  readonly defaultText?: string;
}

/** Go's grammar as a pattern for editors; a bare number counts seconds. */
export const DURATION_PATTERN = '^\\+?([0-9.]+(ns|us|µs|μs|ms|s|m|h|d))+$|^[0-9]+(\\.[0-9]+)?$';

/** A Go duration or a number of seconds; milliseconds inside. */
export function duration(leastMs = 0) {
  return z
    .union([z.string(), z.number()])
    .transform((text, context) => {
      try {
        const ms = parseDuration(text);
        if (ms >= leastMs) return ms;
        context.addIssue({ code: 'custom', message: `must be at least ${formatDuration(leastMs)}` });
      } catch (thrown) {
        const fault = Fault.from(thrown);
        context.addIssue({ code: 'custom', message: `${fault.message} ${fault.remedy}` });
      }
      return z.NEVER;
    })
    .meta({ pattern: DURATION_PATTERN, examples: ['60s', '5m', '1h30m'] });
}

/** A value that must never be shown: not in logs, events, answers or process lists. */
export function secret() {
  return z.string().meta({ secret: true });
}

/** A script or template: `${…}` in it is not ours to expand. */
export function script() {
  return z.string().meta({ literal: true });
}

/** A whole number from `least` on. */
export function count(least = 0) {
  return z.int().min(least);
}

/** A value or a list of at least one; a list inside. */
export function oneOrMore<T extends z.ZodType>(one: T) {
  return z.union([one.transform((only) => [only]), z.array(one).min(1)]);
}

const plainText = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** A map whose keys are the user's own: they are taken as they stand, never renamed. */
export function freeMap() {
  return z.record(z.string(), plainText.meta({ sourceText: true }));
}

/** Environment variables: as a free map, but the values are never shown, for many programs want secrets there. */
export function environmentMap() {
  return z.record(z.string(), plainText.meta({ sourceText: true, hidden: true }));
}

/** An enum as proto-JSON writes it: `MODE_BATCH`, its number (the place in `values`), or simply `batch`. */
export function protoEnum<const V extends readonly string[]>(prefix: string, values: V) {
  const names = values.map((value) => prefix + value.toUpperCase());
  return z
    .union([z.string(), z.int()])
    .transform((written, context): V[number] => {
      const byName = (name: string): boolean => name === String(written).toUpperCase();
      const place =
        typeof written === 'number'
          ? written
          : Math.max(
              names.findIndex(byName),
              values.findIndex((v) => byName(v.toUpperCase())),
            );
      const value = values[place];
      if (value === undefined) context.addIssue({ code: 'custom', message: `must be one of ${values.join(', ')}` });
      return value ?? z.NEVER;
    })
    .meta({ enum: [...values, ...names, ...values.keys()] });
}

const isCidr = (text: string): boolean => {
  const [, address = '', bits] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
};

/** A network like `10.0.0.0/8` or `fd00::/8`. */
export function cidr() {
  return z.string().refine(isCidr, 'must be a network like 10.0.0.0/8');
}

/** A key that other systems know and we have no use for: accepted, with one warning that says why. */
export function unused(why: string) {
  return z.unknown().optional().meta({ unused: why });
}

import { z } from 'zod';
import type { KnownKinds } from '#config/kinds.ts';
import { nearest } from '#core/nearest.ts';
import { count, duration } from '#core/schema.ts';
import { slotSize } from '#core/slot-size.ts';
import { PLACEMENTS } from './placement.ts';

const HOST_URL = /^https?:\/\/[^/\s]+/;

/** One spelling of a URL: two of one host would be two hosts, each with all of its slots. */
function oneSpelling(text: string): string {
  return URL.canParse(text) ? new URL(text).href.replace(/\/$/, '') : text;
}

const host = z
  .object({
    host: z
      .string()
      .regex(HOST_URL, 'must be a URL like http://localhost:9091')
      .overwrite(oneSpelling)
      .describe('URL of the runtime.'),
    slots: count(1).describe('How many slots it has.'),
    dataDir: z.string().optional().describe('Directory for its data.'),
    audienceUrl: z.string().optional().describe('Audience of the tokens that it accepts; absent: its `host`.'),
  })
  .describe('A runtime that is already there.');

const staticSpec = z.object({
  runtimes: z
    .array(host)
    .min(1, 'must name at least one runtime')
    .superRefine((hosts, context) => {
      const seen = new Set<string>();
      for (const [at, { host: url }] of hosts.entries()) {
        if (seen.has(url))
          context.addIssue({ code: 'custom', path: [at, 'host'], message: 'is already named by an earlier entry' });
        seen.add(url);
      }
    })
    .describe('The runtimes to share out.'),
  placement: z
    .enum(PLACEMENTS)
    .default('spread')
    .describe('`spread`: the host with the smallest share in use; `pack`: the fullest that has room; `random`.'),
  slot: slotSize,
});

export type StaticSpec = z.output<typeof staticSpec>;
export type StaticHost = StaticSpec['runtimes'][number];

/** A provisioner of the set: static hosts, or a kind of the family `runtimes`. */
export type SetEntry =
  | { readonly type: 'static'; readonly spec: StaticSpec }
  | { readonly type: string; readonly spec: Readonly<Record<string, unknown>> };

export const isStatic = (one: SetEntry): one is { readonly type: 'static'; readonly spec: StaticSpec } =>
  one.type === 'static';

/** The section `runtimes` of the server's file. */
export interface RuntimeSettings {
  readonly provisioners: Readonly<Record<string, SetEntry>>;
  readonly default?: string | undefined;
  readonly latestVersion: string;
  readonly maxUpdating: number;
  readonly haltAfter: number;
  readonly checkInterval: number;
  readonly serverUrl?: string | undefined;
}

const CHECK_EVERY = '15m';

export function sectionSchema({ runtimes = {} }: Pick<KnownKinds, 'runtimes'>): z.ZodType<RuntimeSettings> {
  const options = Object.entries(runtimes).map(([key, { config, summary }]) =>
    z.object({ type: z.literal(key), spec: config.describe(summary) }),
  );
  const provisioner = z.discriminatedUnion('type', [
    z.object({ type: z.literal('static'), spec: staticSpec.describe('Runtimes that are already there.') }),
    ...options,
  ]) as unknown as z.ZodType<SetEntry>;
  return z
    .object({
      provisioners: z
        .record(z.string().min(1), provisioner)
        .default({})
        .describe('The set: by name, a type and what that needs.'),
      default: z.string().optional().describe('The provisioner of runtimes that name none.'),
      latestVersion: z
        .string()
        .min(1)
        .default('latest')
        .meta({ sourceText: true })
        .describe('The version of runtimes that are not pinned. Changing it updates them one after the other.'),
      maxUpdating: count(1)
        .default(3)
        .describe('How many runtimes may be updated to a new version or to changed templates at a time.'),
      haltAfter: count(1)
        .default(2)
        .describe('How many may fail with a new version or with changed templates before no more are updated.'),
      serverUrl: z
        .string()
        .regex(HOST_URL, 'must be a URL like https://muster.example.com')
        .optional()
        .describe('URL under which runtimes reach the server that they call. Muster checks that it answers.'),
      checkInterval: duration(1_000)
        .prefault(CHECK_EVERY)
        .describe('How often each runtime is checked and what differs is repaired.'),
    })
    .superRefine(defaultIsInSet)
    .superRefine(sharedHostsAgree)
    .prefault({})
    .describe('Runtimes for deployments: the set of provisioners.');
}

function defaultIsInSet(settings: RuntimeSettings, context: z.RefinementCtx): void {
  const { default: chosen, provisioners } = settings;
  const names = Object.keys(provisioners);
  if (chosen === undefined || names.includes(chosen)) return;
  const meant = nearest(chosen, names);
  const known = names.length === 0 ? 'which is empty' : `which has ${names.join(', ')}`;
  const message = `is not in the set, ${known}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  context.addIssue({ code: 'custom', path: ['default'], message });
}

/** Provisioners that name one host share its slots, so they must agree how many it has. */
function sharedHostsAgree({ provisioners }: RuntimeSettings, context: z.RefinementCtx): void {
  const first = new Map<string, { readonly by: string; readonly slots: number }>();
  for (const [by, one] of Object.entries(provisioners)) {
    if (!isStatic(one)) continue;
    for (const [at, { host: url, slots }] of one.spec.runtimes.entries()) {
      const known = first.get(url);
      first.set(url, known ?? { by, slots });
      if (!known || known.slots === slots) continue;
      const message = `must be ${known.slots}, as ${known.by} says: provisioners that name one host share its slots`;
      context.addIssue({ code: 'custom', path: ['provisioners', by, 'spec', 'runtimes', at, 'slots'], message });
    }
  }
}

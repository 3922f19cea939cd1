import { z } from 'zod';
import { type KnownKinds, oneKind } from '#config/kinds.ts';
import { parseWith } from '#config/parse.ts';
import { nodeOf } from '#config/tree.ts';
import { DAY_MS } from '#core/clock.ts';
import { COMPUTER_NAME } from '#core/computer.ts';
import { count, duration } from '#core/schema.ts';
import { platformNamed, platformNames } from './platforms/platforms.ts';

/** A computer that the operator lets others create: a platform and options that they may not change. */
export interface ComputerTemplate {
  readonly platform?: string | undefined;
  readonly backend?: Readonly<Record<string, unknown>> | undefined;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The section `computers` of the server's file. */
export interface ComputerSettings {
  readonly templates: Readonly<Record<string, ComputerTemplate>>;
  readonly defaultTtl: number;
  readonly maxTtl: number;
  readonly allowNoTtl: boolean;
  readonly maxPerToken: number;
}

/** What is wrong with a part of a template, at its place: otherwise it is first seen by who creates a computer. */
function refuseIn(under: 'options' | 'backend', schema: z.ZodType, given: unknown, context: z.RefinementCtx): void {
  for (const { path, message } of parseWith(schema, nodeOf(given), { under }).problems ?? [])
    context.addIssue({ code: 'custom', path: path.split(/[.[\]]+/).filter(Boolean), message });
}

const templateOf = (backend: z.ZodType) =>
  z
    .object({
      platform: z.enum(platformNames).optional().describe('Platform of the computer.'),
      backend: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('Instead of `platform`: a backend, as a pool names it.'),
      options: z.record(z.string(), z.unknown()).default({}).describe('Options of the platform.'),
    })
    .refine((one) => (one.platform === undefined) !== (one.backend === undefined), 'needs either platform or backend')
    .superRefine((one, context) => {
      if (one.platform !== undefined) refuseIn('options', platformNamed(one.platform).options, one.options, context);
      else if (Object.keys(one.options).length > 0)
        context.addIssue({ code: 'custom', path: ['options'], message: 'go with a platform alone' });
      if (one.backend !== undefined) refuseIn('backend', backend, one.backend, context);
    })
    .describe('A computer that operators may create by name.');

export function computerSection({ backends }: Pick<KnownKinds, 'backends'>): z.ZodType<ComputerSettings> {
  const template = templateOf(oneKind(backends, 'backend', 'operator'));
  return z
    .object({
      templates: z
        .record(z.string().regex(COMPUTER_NAME, 'must be small letters, digits and hyphens'), template)
        .default({})
        .describe('Computers that operators may create by the name of a template.'),
      defaultTtl: duration(60_000)
        .optional()
        .describe('How long a computer stays if its creator does not say so; absent: 24 h, or `max_ttl` if shorter.'),
      maxTtl: duration(60_000)
        .default(7 * DAY_MS)
        .describe('The longest time to live that a creator may ask for.'),
      allowNoTtl: z.boolean().default(false).describe('Whether a computer may be created with `ttl: off`.'),
      maxPerToken: count(1).default(20).describe('How many computers one token may have at a time.'),
    })
    .refine(({ defaultTtl = 0, maxTtl }) => defaultTtl <= maxTtl, {
      path: ['defaultTtl'],
      message: 'must not be longer than max_ttl',
    })
    .transform(({ defaultTtl, ...rest }) => ({ ...rest, defaultTtl: defaultTtl ?? Math.min(DAY_MS, rest.maxTtl) }))
    .prefault({})
    .describe('Limits and templates of computers.');
}

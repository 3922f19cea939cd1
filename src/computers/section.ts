import { z } from 'zod';
import type { KnownKinds } from '#config/kinds.ts';
import { DAY_MS } from '#core/clock.ts';
import { COMPUTER_NAME } from '#core/computer.ts';
import { count, duration } from '#core/schema.ts';
import { platformNames } from './platforms/platforms.ts';

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

const template = z
  .object({
    platform: z.enum(platformNames).optional().describe('Platform of the computer.'),
    backend: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Instead of `platform`: a backend, as a pool names it.'),
    options: z.record(z.string(), z.unknown()).default({}).describe('Options of the platform.'),
  })
  .refine(
    ({ platform, backend }) => (platform === undefined) !== (backend === undefined),
    'needs either platform or backend',
  )
  .describe('A computer that operators may create by name.');

export function computerSection(_kinds: Pick<KnownKinds, 'backends'>): z.ZodType<ComputerSettings> {
  return z
    .object({
      templates: z
        .record(z.string().regex(COMPUTER_NAME, 'must be small letters, digits and hyphens'), template)
        .default({})
        .describe('Computers that operators may create by the name of a template.'),
      defaultTtl: duration(60_000)
        .default(DAY_MS)
        .describe('How long a computer stays if its creator does not say so.'),
      maxTtl: duration(60_000)
        .default(7 * DAY_MS)
        .describe('The longest time to live that a creator may ask for.'),
      allowNoTtl: z.boolean().default(false).describe('Whether a computer may be created with `ttl: off`.'),
      maxPerToken: count(1).default(20).describe('How many computers one token may have at a time.'),
    })
    .refine(({ defaultTtl, maxTtl }) => defaultTtl <= maxTtl, {
      path: ['defaultTtl'],
      message: 'must not be longer than max_ttl',
    })
    .prefault({})
    .describe('Limits and templates of computers.');
}

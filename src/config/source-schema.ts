import { z } from 'zod';
import { nearest } from '#core/nearest.ts';
import { count, duration } from '#core/schema.ts';
import { type Chosen, chosenOf, exactlyOne, type KnownKinds, kindKeys, WHEN_MAP } from './kinds.ts';

/** A source as the operator configured it. */
export interface SourceConfig extends Chosen {
  /** Its name, or kind and place; never its position. */
  readonly id: string;
  readonly place: string | undefined;
  readonly everyMs: number;
  readonly allow: {
    readonly backends?: readonly string[] | undefined;
    readonly maxAgents?: number | undefined;
    readonly namePrefix?: string | undefined;
    readonly namespaces?: readonly string[] | undefined;
    readonly prices?: boolean | undefined;
  };
}

const DEFAULT_EVERY_MS = 60_000;

/** Ids that the program itself uses: pools of the file, and pools of the API. */
const RESERVED = ['config', 'api'];

function backendName(known: readonly string[]) {
  return z.string().superRefine((name, context) => {
    if (known.includes(name)) return;
    const meant = nearest(name, known);
    context.addIssue({ code: 'custom', message: `is not a known backend${meant ? `; did you mean ${meant}?` : ''}` });
  });
}

/** The schema of one entry of `provisioners`: exactly one kind of source, and what the operator lets it do. */
export function sourceSchema({ sources, backends }: KnownKinds): z.ZodType<SourceConfig> {
  const allow = z.object({
    backends: z
      .array(backendName(Object.keys(backends)))
      .optional()
      .describe('Backends that its pools may use.'),
    maxAgents: count().optional().describe('Highest `max_agents` that its pools may have.'),
    namespaces: z
      .array(z.string().min(1))
      .optional()
      .describe('The namespaces that its documents may be in, where they are in any: AgentPools.'),
    prices: z
      .boolean()
      .optional()
      .describe(
        'Whether budgets count the `price_per_hour` of its pools where a cloud tells no price. Elsewhere they count the higher of both.',
      ),
    namePrefix: z.string().min(1).optional().describe('Prefix that the names of its pools must have.'),
  });
  const own = {
    name: z
      .string()
      .min(1)
      .refine((name) => !RESERVED.includes(name), `must not be ${RESERVED.join(' or ')}`)
      .optional()
      .describe('Identity of the source. Pools stay the same while it stays the same, even if other settings change.')
      .meta({ defaultText: 'kind and place' }),
    allow: allow.prefault({}).describe('Limits for the pools that it defines.'),
    updateInterval: duration(1_000)
      .optional()
      .describe('How often it is read; also accepted among the settings of the kind.')
      .meta({ defaultText: '60s' }),
  };
  return z
    .object({ ...kindKeys(sources, 'provisioner', 'operator'), ...own })
    .superRefine(exactlyOne(sources, 'provisioner'), WHEN_MAP)
    .transform((entry) => {
      const chosen = chosenOf(sources, entry);
      const place = sources[chosen.kind]?.place?.(chosen.config) || undefined;
      const inner = chosen.config.updateInterval;
      return {
        ...chosen,
        id: entry.name ?? [chosen.kind, place].filter(Boolean).join(':'),
        place,
        everyMs: entry.updateInterval ?? ((typeof inner === 'number' && inner) || DEFAULT_EVERY_MS),
        allow: entry.allow,
      };
    })
    .meta({ noun: 'provisioner' });
}

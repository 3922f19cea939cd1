import type { FaultKind } from '#core/fault.ts';
import type { Explained } from '#rest/client.ts';

/** What DigitalOcean answers in place of success. */
interface ErrorBody {
  readonly id?: unknown;
  readonly message?: unknown;
}

interface Rule {
  readonly words: RegExp;
  readonly kind: FaultKind;
  readonly remedy: string;
}

// The API has one code, `unprocessable_entity`, for all that it will not do with a valid token: only the text tells them
// apart. The first that fits counts.
const RULES: readonly Rule[] = [
  {
    words: /exceed your (?:\S+ )?droplet limit|droplet limit (?:exceeded|reached)|limit for (?:this|gpu) droplet/i,
    kind: 'quota',
    remedy: 'Ask DigitalOcean to raise the droplet limit of the account, or lower max_agents.',
  },
  {
    words: /(?:not|isn't) (?:currently )?available|unavailable|out of (?:capacity|stock)|(?:no|insufficient) capacity/i,
    kind: 'exhausted',
    remedy: 'Wait, or offer another size or region.',
  },
  {
    words: /pending event|already (?:in progress|being destroyed)|is locked/i,
    kind: 'conflict',
    remedy: 'Wait until DigitalOcean has finished what it does with the droplet.',
  },
];

const UNPROCESSABLE = 422;
const REMEDIES: Readonly<Record<number, string>> = {
  401: 'Set a valid token as api_token, or as DIGITALOCEAN_API_TOKEN of the server.',
  403: 'Give the token the scopes account:read, droplet:create, droplet:read, droplet:delete, tag:create, tag:read, actions:read, sizes:read and regions:read.',
  429: 'Wait; other programs with the same token share its 5,000 requests an hour.',
};

/** What an answer of DigitalOcean means; without its error form it came from a proxy. */
export function explain(status: number, body: unknown): Explained | undefined {
  const { id, message } = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
  const remedy = REMEDIES[status];
  if (typeof id !== 'string') return remedy ? { remedy } : { kind: 'unavailable' };
  const said = `${id}: ${typeof message === 'string' ? message : 'no message'}`;
  const rule = status === UNPROCESSABLE ? RULES.find(({ words }) => words.test(said)) : undefined;
  return { kind: rule?.kind, message: said, remedy: rule?.remedy ?? remedy };
}

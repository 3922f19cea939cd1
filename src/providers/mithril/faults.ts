import type { FaultKind } from '#core/fault.ts';
import type { Explained } from '#rest/client.ts';

interface Rule {
  readonly words: RegExp;
  readonly kind: FaultKind;
  readonly remedy: string;
}

const RULES: readonly Rule[] = [
  {
    words: /quota|limit (?:of|for) .*(?:exceeded|reached)/i,
    kind: 'quota',
    remedy: 'Ask Mithril to raise the quota of the project, or lower max_agents.',
  },
  {
    words: /(?:no|insufficient|not enough) capacity|out of (?:capacity|stock)|sold out/i,
    kind: 'exhausted',
    remedy: 'Wait, raise limit_price, or offer another type or region.',
  },
  {
    words: /(?:below|lower than).*minimum.*price|minimum price/i,
    kind: 'exhausted',
    remedy: 'Raise limit_price: it is below what Mithril takes for this type.',
  },
];

const REMEDIES: Readonly<Record<number, string>> = {
  401: 'Set a valid token as api_token, or as MITHRIL_API_TOKEN of the server.',
  402: 'Settle the account with Mithril.',
  403: 'Give the owner of the token access to the project.',
  429: 'Wait; other programs with the same token share its limits.',
};

interface Detail {
  readonly loc?: readonly unknown[];
  readonly msg?: string;
}

/** `detail` is a text, or a list of what is wrong with which field. */
function wordsOf(body: unknown): string | undefined {
  const { detail } = (typeof body === 'object' && body !== null ? body : {}) as { readonly detail?: unknown };
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return undefined;
  return (detail as Detail[]).map(({ loc = [], msg = 'is wrong' }) => `${loc.join('.')}: ${msg}`).join('; ');
}

const PAYMENT = 402;

/** What an answer of Mithril means; without its error form it came from a proxy. */
export function explain(status: number, body: unknown): Explained | undefined {
  const message = wordsOf(body);
  const remedy = REMEDIES[status];
  if (message === undefined) return remedy ? { remedy } : { kind: 'unavailable' };
  if (status >= 500) return { message };
  const rule = remedy ? undefined : RULES.find(({ words }) => words.test(message));
  return { kind: status === PAYMENT ? 'denied' : rule?.kind, message, remedy: rule?.remedy ?? remedy };
}

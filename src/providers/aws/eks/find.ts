import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import { inPages } from '#rest/retry.ts';
import type { Signing } from './signed.ts';

export interface FoundCluster {
  readonly server: string;
  /** As PEM. */
  readonly ca: string;
}

interface Description {
  readonly cluster?: {
    readonly status?: string;
    readonly endpoint?: string;
    readonly certificateAuthority?: { readonly data?: string };
  };
}

interface Listing {
  readonly clusters?: readonly string[];
  readonly nextToken?: string | null;
}

async function namesIn(signing: Signing, clock: Clock, signal: AbortSignal): Promise<readonly string[]> {
  const names: string[] = [];
  const call = { service: 'eks', action: 'ListClusters', method: 'GET', path: '/clusters' } as const;
  await inPages(clock, signal, async (nextToken) => {
    const query = { maxResults: '100', ...(nextToken && { nextToken }) };
    const page = JSON.parse(await signing.ask({ ...call, query }, signal)) as Listing;
    names.push(...(page.clusters ?? []));
    return page.nextToken ?? undefined;
  });
  return names;
}

function meantBy(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant) return `Did you mean ${meant}?`;
  return known.length > 0 ? `The region has: ${known.slice(0, 5).join(', ')}.` : 'The region has no clusters.';
}

/** The cluster as EKS knows it; a wrong name is refused with the one that was probably meant. */
export async function findCluster(signing: Signing, name: string, clock: Clock): Promise<FoundCluster> {
  const { signal } = new AbortController();
  const { region } = signing;
  const call = { service: 'eks', action: 'DescribeCluster', method: 'GET', path: `/clusters/${name}` } as const;
  const text = await signing.ask(call, signal).catch(async (thrown) => {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'missing') throw fault;
    const remedy = await namesIn(signing, clock, signal).then(
      (known) => meantBy(name, known),
      () => `Check region and cluster_name: aws eks list-clusters --region ${region}.`,
    );
    throw new Fault('missing', `There is no EKS cluster ${name} in ${region}.`, { cause: fault, remedy });
  });
  const { endpoint, certificateAuthority, status } = (JSON.parse(text) as Description).cluster ?? {};
  if (!endpoint || !certificateAuthority?.data)
    throw new Fault(
      'unavailable',
      `The EKS cluster ${name} in ${region} has no address: it is ${status ?? 'unknown'}.`,
    );
  const ca = Buffer.from(certificateAuthority.data, 'base64').toString('utf8');
  return { server: endpoint.replace(/\/+$/, ''), ca };
}

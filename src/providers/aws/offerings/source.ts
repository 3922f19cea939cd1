import type { DescribeInstanceTypeOfferingsCommandInput } from '@aws-sdk/client-ec2';
import { Fault } from '#core/fault.ts';
import type { Context, Document, Source } from '#core/provider.ts';
import { inPages } from '#rest/retry.ts';
import { type Ec2Calls, ec2At, type Service } from '../client.ts';
import { regionIn } from '../config.ts';
import { chooseTypes } from './choose-types.ts';
import type { OfferingsConfig } from './config.ts';
import { documentOf } from './document.ts';

/** Every type that the zone, or any zone of the region, offers. */
async function offeredTypes(ec2: Service<Ec2Calls>, zone: string | undefined, signal: AbortSignal): Promise<string[]> {
  const types: string[] = [];
  const place: DescribeInstanceTypeOfferingsCommandInput =
    zone === undefined
      ? { LocationType: 'region' }
      : { LocationType: 'availability-zone', Filters: [{ Name: 'location', Values: [zone] }] };
  await inPages(ec2.clock, signal, async (token) => {
    const input = { ...place, MaxResults: 1_000, ...(token ? { NextToken: token } : {}) };
    const page = await ec2.ask('DescribeInstanceTypeOfferings', input, { signal });
    for (const { InstanceType } of page.InstanceTypeOfferings ?? []) if (InstanceType) types.push(InstanceType);
    return page.NextToken;
  });
  return types;
}

/** A pool for each type that AWS offers there and the operator wants; types come and go, and their pools with them. */
export async function openOfferings(config: OfferingsConfig, context: Context): Promise<Source> {
  const { template } = config;
  const logged = new Set<string>();
  let generations: readonly string[] = [];

  function logGenerations(): void {
    for (const prefix of generations) {
      if (logged.has(prefix)) continue;
      logged.add(prefix);
      context.log('info', 'prefix matches no type; read as a generation', { prefix });
    }
  }

  return {
    async documents(held, signal): Promise<Document[]> {
      if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
      const ec2 = await ec2At(context, { region: regionIn(template), endpoint: template.endpoint });
      const chosen = chooseTypes(await offeredTypes(ec2, template.zone, signal), config.instanceTypePrefixes);
      generations = [...new Set(chosen.flatMap(({ generation }) => generation ?? []))];
      logGenerations();
      return chosen.map((one) => {
        const { key, version, text } = documentOf(config, one, ec2.region);
        return held.get(key) === version ? { key, version } : { key, version, text };
      });
    },
    notes: () => generations.map((prefix) => `"${prefix}" matches no type; read as a generation`),
  };
}

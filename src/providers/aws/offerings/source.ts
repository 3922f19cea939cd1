import type { DescribeInstanceTypeOfferingsCommandInput } from '@aws-sdk/client-ec2';
import { Fault } from '#core/fault.ts';
import type { Context, Document, Source, SourceMemory } from '#core/provider.ts';
import { inPages } from '#rest/retry.ts';
import { type Ec2Calls, ec2At, type Service } from '../client.ts';
import { regionIn } from '../config.ts';
import { type ChosenType, chooseTypes, type PrefixReadings, readPrefixes } from './choose-types.ts';
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

/** What people should know of how the prefixes are read, given what they found. */
function notesOf(prefixes: readonly string[], readings: PrefixReadings, chosen: readonly ChosenType[]): string[] {
  return prefixes.flatMap((prefix) => {
    if (readings[prefix] === 'generation') return `"${prefix}" is read as a generation`;
    const isMissed = readings[prefix] === 'literal' && !chosen.some(({ type }) => type.startsWith(prefix));
    return isMissed ? `"${prefix}" is read literally, and no offered type begins with it now` : [];
  });
}

const NO_MEMORY: SourceMemory = { decided: {}, keys: () => [], keep: () => {} };

/** A pool for each type that AWS offers there and the operator wants; types come and go, and their pools with them. */
export async function openOfferings(config: OfferingsConfig, context: Context): Promise<Source> {
  const { template, instanceTypePrefixes: prefixes } = config;
  const logged = new Set<string>();
  let notes: readonly string[] = [];

  function logNotes(): void {
    for (const note of notes) {
      if (logged.has(note)) continue;
      logged.add(note);
      context.log('info', 'prefix of instance types', { note });
    }
  }

  return {
    async documents(held, signal, memory = NO_MEMORY): Promise<Document[]> {
      if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
      const ec2 = await ec2At(context, { region: regionIn(template), endpoint: template.endpoint });
      const offered = await offeredTypes(ec2, template.zone, signal);
      const readings = readPrefixes(offered, prefixes, memory);
      memory.keep(readings);
      const chosen = chooseTypes(offered, prefixes, readings);
      notes = notesOf(prefixes, readings, chosen);
      logNotes();
      return chosen.map((one) => {
        const { key, version, text } = documentOf(config, one, ec2.region);
        return held.get(key) === version ? { key, version } : { key, version, text };
      });
    },
    notes: () => notes,
  };
}

import { describe, expect, it } from 'vitest';
import { knownKinds } from '#config/kinds.ts';
import { providers } from '../providers/providers.gen.ts';
import { offerFor } from './offer.ts';
import { placeOn } from './platforms/platforms.ts';

const KINDS = knownKinds(providers);
const CONTEXT = { variable: () => undefined, agentImage: 'muster/agent:1' };

const offerOn = (platform: string, options: Readonly<Record<string, unknown>>) =>
  offerFor(KINDS, placeOn(platform, options, CONTEXT).backend, { platform, options });

describe('a computer that its cloud can never take', () => {
  it.each([
    ['gcp', { project: 'p', zone: 'us-central1-a' }, 'project'],
    ['azure', { subscriptionId: 'mine' }, 'subscription_id'],
    ['kubernetes', { namespace: 'Not_One' }, 'namespace'],
  ])('is refused on the platform %s by the option that its caller wrote: %j', (platform, options, option) => {
    expect(() => offerOn(platform, options)).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        at: `options.${option}`,
        message: expect.stringMatching(new RegExp(`^options\\.${option}: must be `)),
        remedy: `\`muster computer platforms ${platform}\` lists its options.`,
      }),
    );
  });

  it('is refused by the key of the backend where that is what its caller wrote', () => {
    expect(() => offerFor(KINDS, { gce_instance: { project: 'p' } })).toThrow(
      expect.objectContaining({
        at: expect.stringMatching(/^backend\.gce_instance\./),
        remedy: 'Correct the backend, then try again.',
      }),
    );
  });

  it('is refused by the key of the backend where the value came from no option', () => {
    const context = { ...CONTEXT, variable: () => 'p' };
    const { backend } = placeOn('gcp', {}, context);

    expect(() => offerFor(KINDS, backend, { platform: 'gcp', options: {} })).toThrow(
      expect.objectContaining({ at: 'backend.gce_instance.project' }),
    );
  });
});

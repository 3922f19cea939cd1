import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { launchNames, shortId } from './id.ts';
import { shapeOf } from './mark.ts';
import { nameWithMark, readMarkedName } from './mark-name.ts';
import { type Mark, USES } from './provider.ts';
import { seededRandom } from './random.ts';

const asked = fc
  .record({
    owner: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.constantFrom('a.b_C:d/é', '---', 'm-1-2-3')),
    use: fc.constantFrom(...USES),
    seed: fc.integer(),
    offer: fc.stringMatching(/^[0-9a-f]{12}$/),
    form: fc.option(fc.string(), { nil: undefined }),
  })
  .map(({ owner, use, seed, offer, form }) => {
    const random = seededRandom(seed);
    const id = shortId(random);
    const mark: Mark = { cluster: shortId(random), use, owner: id, shape: shapeOf(offer, form) };
    return { name: launchNames({ name: owner, id }, 3, random, use)[2] as string, mark };
  });

describe('a name that carries its mark', () => {
  it('is an RFC 1035 label, and reads back whatever the owner is called', () => {
    fc.assert(
      fc.property(asked, ({ name, mark }) => {
        const text = nameWithMark(name, mark);

        expect(text).toMatch(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/);
        expect(readMarkedName(text)).toEqual({ name, mark });
      }),
    );
  });

  it('is longest where all its parts are: 63 characters', () => {
    const mark: Mark = { cluster: 'abcd1234', use: 'worker', owner: 'gpu00001', shape: shapeOf('0123456789ab', 'x') };
    const [name = ''] = launchNames({ name: 'x'.repeat(200), id: 'gpu00001' }, 1, seededRandom(1));

    expect(nameWithMark(name, mark)).toHaveLength(63);
  });

  it.each(['', 'web-1', 'm-gpu-abcd1234-0123456789', 'x-gpu-abcd1234-0123456789-abcd1234-0123456789ab'])(
    'is not read into %s',
    (text) => {
      expect(readMarkedName(text)).toBeUndefined();
    },
  );

  it.each([
    ['the owner', { owner: 'other000' }],
    ['the use', { use: 'computer' as const }],
    ['a shape of the previous version', { shape: '0123456789ab.cdef0123' }],
    ['a shape that is too long', { shape: `0123456789ab-${'c'.repeat(60)}` }],
  ])('is refused where it could not say %s', (_, wrong) => {
    const mark: Mark = { cluster: 'abcd1234', use: 'worker', owner: 'gpu00001', shape: '0123456789ab', ...wrong };

    expect(() => nameWithMark('m-gpu-gpu00001-0123456789', mark)).toThrow(/cannot carry its mark/);
  });
});

// What each cloud takes as the value of a tag or label, from its reference.
const TAKEN: Readonly<Record<string, RegExp>> = {
  'EC2 tags': /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$/u,
  'GCE labels': /^[\p{Ll}\p{Lo}0-9_-]{0,63}$/u,
  'DigitalOcean tags': /^[a-zA-Z0-9_:-]{1,255}$/,
  'Kubernetes label values': /^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$/,
  'Azure tags': /^[^<>%&\\?/]{0,256}$/,
  'Nebius labels': /^[a-z0-9][a-z0-9_.-]{0,62}$/,
  'docker labels': /^[^\0\n]*$/,
};

test.each(Object.entries(TAKEN))('%s take every part of a mark', (_, pattern) => {
  fc.assert(
    fc.property(asked, ({ name, mark }) => {
      for (const part of [name, mark.cluster, mark.use, mark.owner, mark.shape]) expect(part).toMatch(pattern);
    }),
  );
});

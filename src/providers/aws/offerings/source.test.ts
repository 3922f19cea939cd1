import { describe, expect, it } from 'vitest';
import type { Document } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { LaunchConfig } from '../config.ts';
import { type AwsScene, openScene, REGION } from '../testing.ts';
import { chooseTypes, readPrefixes } from './choose-types.ts';
import { OfferingsConfig } from './config.ts';
import { openOfferings } from './source.ts';

const SEED = {
  poolPrefix: 'aws',
  template: { region: REGION, subnetId: 'subnet-abc123', securityGroupIds: ['sg-xyz789'], amiName: 'velda-agent-*' },
  instanceTypePrefixes: ['p3.', 'p4.', 'g4dn.'],
  autoscalerConfig: { maxAgents: 10, minIdleAgents: 0, maxIdleAgents: 2 },
};

async function read(scene: AwsScene, config: object = SEED): Promise<readonly Document[]> {
  const source = await openOfferings(OfferingsConfig.parse(config), scene.contextFor('cluster1'));
  return scene.during(source.documents(new Map(), going()));
}

interface Written {
  readonly name: string;
  readonly description: string;
  readonly autoScaler: Readonly<Record<string, unknown>> & {
    readonly backend: { readonly awsLaunchTemplate: Readonly<Record<string, unknown>> };
  };
}

const written = ({ text }: Document): Written => JSON.parse(text ?? '{}') as Written;

describe('the pools of what AWS offers', () => {
  it('are those that the seed promises', async () => {
    const documents = await read(openScene({ behaviour: { largestPage: 2, emptyPages: 1 } }));

    const names = documents.map((one) => written(one).name);
    expect(names).toEqual([
      'aws-g4dn.12xlarge',
      'aws-g4dn.2xlarge',
      'aws-g4dn.xlarge',
      'aws-p3.16xlarge',
      'aws-p3.2xlarge',
      'aws-p3.8xlarge',
      'aws-p4d.24xlarge',
    ]);
  });

  it('have the settings of the operator over the usual ones', async () => {
    const [first] = await read(openScene(), {
      ...SEED,
      autoscalerConfig: { maxIdleAgents: 2, syncLoopInterval: '5m' },
    });
    const { backend, ...scaling } = written(first as Document).autoScaler;

    expect(scaling).toEqual({
      maxAgents: 10,
      minAgents: 0,
      maxIdleAgents: 2,
      idleDecay: '60000ms',
      syncLoopInterval: '300000ms',
    });
    const config = LaunchConfig.parse(backend.awsLaunchTemplate);
    expect(config).toMatchObject({ ...SEED.template, instanceType: 'g4dn.12xlarge' });
  });

  it('have the image of the source in place of that of the template', async () => {
    const [byId] = await read(openScene(), { ...SEED, amiId: 'ami-1' });
    const [byOwner] = await read(openScene(), { ...SEED, amiOwner: '123' });
    const imageOf = (one: Document | undefined) => written(one as Document).autoScaler.backend.awsLaunchTemplate;

    expect(imageOf(byId)).toMatchObject({ amiId: 'ami-1' });
    expect(imageOf(byId)?.amiName).toBeUndefined();
    expect(imageOf(byOwner)).toMatchObject({ amiName: 'velda-agent-*', amiOwner: '123' });
  });

  it('are those of the zone where one is named', async () => {
    const scene = openScene();
    scene.fake.region(REGION).offerings.set('p3.2xlarge', [`${REGION}b`]);
    const template = { zone: `${REGION}a`, instanceType: undefined };
    const documents = await read(scene, { template, instanceTypePrefixes: ['p3.'] });

    expect(documents.map(({ key }) => key)).toEqual(['p3.16xlarge', 'p3.8xlarge']);
  });

  it('say where a prefix was read as a generation', async () => {
    const scene = openScene();
    const source = await openOfferings(OfferingsConfig.parse(SEED), scene.contextFor('cluster1'));
    const documents = await scene.during(source.documents(new Map(), going()));
    const ofP4 = documents.find(({ key }) => key === 'p4d.24xlarge') as Document;

    expect(written(ofP4).description).toBe('p4d.24xlarge in us-west-2, which "p4." means as a generation');
    expect(scene.lines.join()).toContain('{"note":"\\"p4.\\" is read as a generation"}');
    expect(source.notes?.()).toEqual(['"p4." is read as a generation']);
  });

  it('keep their versions from one reading to the next, and change them with the settings', async () => {
    const versionsOf = async (config: object) => (await read(openScene(), config)).map(({ version }) => version);

    expect(await versionsOf(SEED)).toEqual(await versionsOf(SEED));
    expect((await versionsOf({ ...SEED, autoscalerConfig: { maxAgents: 3 } }))[0]).not.toBe(
      (await versionsOf(SEED))[0],
    );
  });
});

describe('the rules of prefixes', () => {
  const OFFERED = [
    'p4d.24xlarge',
    'p4de.24xlarge',
    'p4.large',
    'p41.large',
    'g4dn.xlarge',
    'u-6tb1.metal',
    'p5.48xlarge',
  ];

  const NOTHING_KEPT = { decided: {}, keys: () => [] };
  const chosenOf = (offered: readonly string[], prefixes: readonly string[], before = NOTHING_KEPT) =>
    chooseTypes(offered, prefixes, readPrefixes(offered, prefixes, before));

  it.each([
    [['p5.'], ['p5.48xlarge']],
    [['p4.'], ['p4.large']],
    [['g4.'], ['g4dn.xlarge']],
    [['u.'], ['u-6tb1.metal']],
    [['p4'], ['p4.large', 'p41.large', 'p4d.24xlarge', 'p4de.24xlarge']],
    [['x9.'], []],
  ])('%s fits %s', (prefixes, fitting) => {
    expect(chosenOf(OFFERED, prefixes).map(({ type }) => type)).toEqual(fitting);
  });

  it('reads a prefix that fits nothing as its generation, and no further', () => {
    expect(chosenOf(['p4d.24xlarge', 'p4de.24xlarge', 'p41.large'], ['p4.'])).toEqual([
      { type: 'p4d.24xlarge', generation: 'p4.' },
      { type: 'p4de.24xlarge', generation: 'p4.' },
    ]);
  });

  it.each([
    ['literal', []],
    ['generation', ['p3dn.24xlarge']],
  ])('keeps a prefix %s when only types of its generation are offered', (reading, fitting) => {
    const before = { decided: { 'p3.': reading }, keys: () => [] };

    expect(chosenOf(['p3dn.24xlarge'], ['p3.'], before).map(({ type }) => type)).toEqual(fitting);
    expect(readPrefixes(['p3dn.24xlarge'], ['p3.'], before)).toEqual({ 'p3.': reading });
  });

  it('decides a prefix that nothing was kept of by the types that have pools, unless another prefix fits them', () => {
    const readings = (keys: readonly string[], prefixes: readonly string[]) =>
      readPrefixes(['p3.2xlarge', 'p3dn.24xlarge'], prefixes, { decided: {}, keys: () => keys });

    expect(readings(['p3dn.24xlarge'], ['p3.'])).toEqual({ 'p3.': 'generation' });
    expect(readings(['p3dn.24xlarge'], ['p3.', 'p3dn.'])).toEqual({ 'p3.': 'literal', 'p3dn.': 'literal' });
  });

  it('decides nothing of a prefix that fits nothing, and keeps nothing of one that is not configured', () => {
    expect(readPrefixes([], ['p3.'], NOTHING_KEPT)).toEqual({});
    expect(readPrefixes(['g5.xlarge'], ['p3.'], { decided: { 'p4.': 'generation' }, keys: () => [] })).toEqual({});
  });
});

import { describe, expect, it } from 'vitest';
import { AGENT_POOL_CRD, AGENT_POOL_CRD_WITH_RULES } from './crd.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

interface Version {
  readonly subresources: object;
  readonly additionalPrinterColumns: readonly { readonly name: string; readonly jsonPath: string }[];
  readonly schema: { readonly openAPIV3Schema: Schema };
}

const versionOf = (crd: object): Version => (crd as { spec: { versions: [Version] } }).spec.versions[0];
const propertyOf = (crd: object, ...path: readonly string[]): Schema =>
  path.reduce<Schema>((at, key) => at.properties?.[key] ?? {}, versionOf(crd).schema.openAPIV3Schema);

/** Paths without a text for `kubectl explain`. */
function undescribed({ properties = {}, items }: Schema, at = ''): readonly string[] {
  const below = items ? undescribed(items, `${at}[]`) : [];
  const own = Object.entries(properties).flatMap(([key, one]) => [
    ...(one.description ? [] : [`${at}.${key}`]),
    ...undescribed(one, `${at}.${key}`),
  ]);
  return [...below, ...own];
}

describe.each([
  ['without rules', AGENT_POOL_CRD],
  ['with rules', AGENT_POOL_CRD_WITH_RULES],
])('the definition of AgentPools %s', (_, crd) => {
  it('has a text for kubectl explain at every field', () => {
    // The API server describes these itself.
    expect(undescribed(versionOf(crd).schema.openAPIV3Schema)).toEqual(['.apiVersion', '.kind', '.metadata']);
  });

  it('lets kubectl scale set minReplicas, and shows the connected agents as replicas', () => {
    expect(versionOf(crd).subresources).toEqual({
      status: {},
      scale: { specReplicasPath: '.spec.autoscaler.minReplicas', statusReplicasPath: '.status.ready' },
    });
  });

  it('keeps conditions as a map by type', () => {
    expect(propertyOf(crd, 'status', 'conditions')).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });
  });

  it('shows the reason of the state in a column', () => {
    const columns = versionOf(crd).additionalPrinterColumns;

    expect(columns.find(({ name }) => name === 'Status')?.jsonPath).toBe('.status.state');
  });
});

describe('the rules of the definition of AgentPools', () => {
  const rulesAt = (...path: readonly string[]): readonly string[] =>
    propertyOf(AGENT_POOL_CRD_WITH_RULES, ...path)['x-kubernetes-validations']?.map(({ message }) => message) ?? [];

  it('refuse what the server would refuse', () => {
    expect(rulesAt('spec', 'autoscaler')).toEqual(['minReplicas must not be above maxReplicas']);
    expect(rulesAt('spec', 'template')).toEqual([
      'metadata.labels: The template must have at least one label.',
      'spec.containers: must have the container of the agent',
    ]);
    expect(rulesAt('spec')).toEqual([
      'needs either template or templates',
      'agentNetworks is required with agentAuth: network, like [10.0.0.0/8]',
    ]);
  });

  it('are not in the definition for Kubernetes before 1.25', () => {
    expect(JSON.stringify(AGENT_POOL_CRD)).not.toContain('x-kubernetes-validations');
  });
});

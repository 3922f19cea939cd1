import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { customResourceDefinition, openObject, structuralSchema } from './crd.ts';

const POOLS = { group: 'velda.io', version: 'v1', plural: 'agentpools', kind: 'AgentPool', isNamespaced: true };

describe('a structural schema', () => {
  it('has types, bounds, defaults and descriptions, and no key that Kubernetes refuses', () => {
    const schema = z.strictObject({
      replicas: z.int().min(0).max(10).default(0).describe('How many.'),
      ratio: z.number().positive().optional(),
      mode: z.enum(['Batch', 'Shell']).optional(),
      fixed: z.literal('x').optional(),
      names: z.array(z.string().regex(/^a+$/).max(9)).min(1),
      labels: z.record(z.string(), z.string()).optional(),
      port: z.union([z.int(), z.string()]).optional(),
      since: z.string().nullable().optional(),
      template: openObject(),
      any: z.unknown().optional(),
    });

    expect(structuralSchema(schema)).toEqual({
      type: 'object',
      required: ['names', 'template'],
      properties: {
        replicas: { type: 'integer', minimum: 0, maximum: 10, default: 0, description: 'How many.' },
        ratio: { type: 'number', minimum: 0, exclusiveMinimum: true },
        mode: { type: 'string', enum: ['Batch', 'Shell'] },
        fixed: { type: 'string', enum: ['x'] },
        names: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^a+$', maxLength: 9 } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        port: { 'x-kubernetes-int-or-string': true },
        since: { type: 'string', nullable: true },
        template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    });
  });

  it('leaves nothing out in silence', () => {
    const union = z.object({ a: z.union([z.object({ b: z.string() }), z.string()]) });

    const shared = z.object({ a: z.tuple([z.string()]) });

    expect(() => structuralSchema(union)).toThrow('spec.a is a union');
    expect(() => structuralSchema(shared)).toThrow('cannot express prefixItems of spec.a');
  });
});

it('a definition has names, columns and a status of its own', () => {
  const definition = customResourceDefinition({
    resource: POOLS,
    singular: 'agentpool',
    shortNames: ['ap'],
    categories: ['all'],
    description: 'A pool.',
    spec: z.object({ max: z.int().optional() }),
    status: z.object({ ready: z.int().optional() }),
    columns: [{ name: 'Ready', type: 'integer', jsonPath: '.status.ready' }],
  });

  expect(definition).toMatchObject({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'agentpools.velda.io' },
    spec: {
      group: 'velda.io',
      scope: 'Namespaced',
      names: {
        plural: 'agentpools',
        singular: 'agentpool',
        kind: 'AgentPool',
        listKind: 'AgentPoolList',
        shortNames: ['ap'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [{ name: 'Ready', type: 'integer', jsonPath: '.status.ready' }],
          schema: { openAPIV3Schema: { properties: { spec: { properties: { max: { type: 'integer' } } } } } },
        },
      ],
    },
  });
});

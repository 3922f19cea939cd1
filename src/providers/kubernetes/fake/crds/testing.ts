/** A small definition of pools, as tests need it: bounds, defaults, columns, and a template that keeps all fields. */
export const POOL_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'agentpools.velda.io' },
  spec: {
    group: 'velda.io',
    scope: 'Namespaced',
    names: { plural: 'agentpools', singular: 'agentpool', kind: 'AgentPool', shortNames: ['ap'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Max', type: 'integer', jsonPath: '.spec.autoscaler.maxReplicas' },
          { name: 'Slots', type: 'integer', jsonPath: '.spec.autoscaler.defaultSlotsPerAgent', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['template'],
                properties: {
                  autoscaler: {
                    type: 'object',
                    required: ['maxReplicas'],
                    properties: {
                      minReplicas: { type: 'integer', minimum: 0, default: 0 },
                      maxReplicas: { type: 'integer', minimum: 0 },
                      minIdle: { type: 'integer', minimum: 0 },
                      maxIdle: { type: 'integer', minimum: 0 },
                      idleDecaySecond: { type: 'integer', default: 60 },
                      killUnknownAfterSecond: { type: 'integer', default: 300 },
                      defaultSlotsPerAgent: { type: 'integer', minimum: 1, default: 1 },
                    },
                  },
                  updatePolicy: { type: 'string', enum: ['Rolling', 'OnDelete'] },
                  template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
              status: {
                type: 'object',
                properties: {
                  observedGeneration: { type: 'integer' },
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      type: 'object',
                      required: ['type', 'status'],
                      properties: { type: { type: 'string' }, status: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const POOLS = '/apis/velda.io/v1/namespaces/default/agentpools';

/** The seed's pool. */
export const anAgentPool = (name = 'cpu-pool', autoscaler: object = { maxReplicas: 20 }): object => ({
  apiVersion: 'velda.io/v1',
  kind: 'AgentPool',
  metadata: { name },
  spec: {
    autoscaler,
    template: {
      metadata: { labels: { app: 'velda-agent', pool: name } },
      spec: { containers: [{ name: 'agent', image: 'veldaio/agent:latest', args: [`--pool=${name}`] }] },
    },
  },
});

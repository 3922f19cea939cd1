// The settings of the kind `kubernetes_deployment`.
import { z } from 'zod';
import { duration, freeMap } from '#core/schema.ts';
import { clusterKeys, namespace } from '../config.ts';

/** The kind of backend `kubernetes_deployment`: a Deployment for each machine, and a Service for its port. */
export const DeploymentConfig = z
  .object({
    namespace: namespace()
      .optional()
      .describe('Where the objects are made.')
      .meta({ defaultText: "the template's, else the context's, else `default`" }),
    image: z
      .string()
      .min(1)
      .optional()
      .describe('Image of the agent: its entry point is the agent. With `template`, in place of the image there.'),
    template: z
      .looseObject({})
      .optional()
      .describe('The pod of a machine, as Kubernetes writes it: resources, nodes, secrets for pulling the image.')
      .meta({ literal: true }),
    serviceType: z
      .enum(['ClusterIP', 'LoadBalancer'])
      .default('ClusterIP')
      .describe(
        'Type of the Service. `ClusterIP` is reached within the cluster; `LoadBalancer` orders a load balancer of the cloud for each machine, which others may reach and which costs.',
      ),
    serviceAnnotations: freeMap()
      .optional()
      .describe('Annotations of the Service: most clouds choose an internal load balancer by one.'),
    schedulingTimeout: duration()
      .prefault('2m')
      .describe(
        'A machine whose pod no node has had room for, or no quota, during this time is replaced, by the next backend where there is one.',
      )
      .meta({ shapes: false }),
    ...clusterKeys,
  })
  .refine(({ image, template }) => image !== undefined || template !== undefined, 'needs image, template, or both')
  .meta({ kindsOf: 'clusters' });
export type DeploymentConfig = z.output<typeof DeploymentConfig> & Readonly<Record<string, unknown>>;

// The settings of the Kubernetes kinds. Which cluster they act in stands beside their own keys: `gke: {…}`, `cluster: prod`.
import { z } from 'zod';
import { duration } from '#core/schema.ts';

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
export const namespace = () => z.string().regex(NAMESPACE, 'must be a namespace: lower-case letters, digits and "-"');

/** How a configuration names its cluster, where no kind of cluster stands beside these keys. */
export const clusterKeys = {
  cluster: z
    .string()
    .min(1)
    .optional()
    .describe("The name of a cluster under `clusters` in the server's file.")
    .meta({ operatorOnly: true, shapes: false }),
  context: z
    .string()
    .min(1)
    .optional()
    .describe('The context of the kubeconfig to use.')
    .meta({ operatorOnly: true, shapes: false, defaultText: 'its current one' }),
};

/** The kind of source `kubernetes`: AgentPool objects. */
export const SourceConfig = z
  .object({
    namespace: z
      .union([namespace(), z.literal('')])
      .optional()
      .describe('The namespace whose AgentPools are read; empty or absent: all of them.'),
    ...clusterKeys,
  })
  .meta({ kindsOf: 'clusters' });
export type SourceConfig = z.output<typeof SourceConfig> & Readonly<Record<string, unknown>>;

/** The kind of backend `kubernetes`: a pod for each worker. */
export const BackendConfig = z
  .object({
    namespace: namespace()
      .optional()
      .describe('Where the pods are made.')
      .meta({ defaultText: "the template's, else the context's, else `default`" }),
    template: z
      .looseObject({})
      .optional()
      .describe('The pod of a worker, as Kubernetes writes it.')
      .meta({ literal: true }),
    podTemplatePath: z
      .string()
      .min(1)
      .optional()
      .describe('In place of `template`: a file of the server with the pod, as YAML or JSON.')
      .meta({ operatorOnly: true }),
    podSelector: z
      .string()
      .optional()
      .describe('Known from Velda, where it found the pods of a pool.')
      .meta({ unused: 'Muster finds its pods by labels of its own, and leaves all others alone' }),
    passToken: z
      .boolean()
      .default(true)
      .describe('Whether pods carry the token of their launch, for `agent_auth: token`.'),
    schedulingTimeout: duration()
      .prefault('2m')
      .describe(
        'A pod that no node has had room for during this time is replaced, by the next backend where there is one.',
      )
      .meta({ shapes: false }),
    scope: z
      .enum(['namespace', 'cluster'])
      .default('namespace')
      .describe('Whether pods are watched in their namespace alone, or in the whole cluster by one watch.')
      .meta({ operatorOnly: true, shapes: false }),
    ...clusterKeys,
  })
  .refine(
    ({ template, podTemplatePath }) => (template === undefined) !== (podTemplatePath === undefined),
    'needs either template or pod_template_path',
  )
  .meta({ kindsOf: 'clusters' });
export type BackendConfig = z.output<typeof BackendConfig> & Readonly<Record<string, unknown>>;

/** The kind of cluster `kubeconfig`: what kubectl would use. */
export const KubeconfigConfig = z.union([
  z
    .string()
    .min(1)
    .transform((path) => ({ path, context: undefined })),
  z.object({
    path: z
      .string()
      .min(1)
      .optional()
      .describe('The file.')
      .meta({ defaultText: '`KUBECONFIG`, then `~/.kube/config`, then the cluster that the server runs in' }),
    context: z.string().min(1).optional().describe('The context.').meta({ defaultText: 'its current one' }),
  }),
]);
export type KubeconfigConfig = z.output<typeof KubeconfigConfig>;

/** What a configuration says of its cluster, for `Context.clusterAt`. */
export function clusterKeysOf(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { context, kubeconfig } = config;
  if (context === undefined) return config;
  return { ...config, kubeconfig: { ...(kubeconfig as object | undefined), context } };
}

import { z } from 'zod';
import { count } from '#core/schema.ts';
import { slotSize } from '#core/slot-size.ts';
import { namespace } from '../config.ts';

const template = (what: string) =>
  z.string().min(1).describe(`File with the template of the ${what}.`).meta({ filePath: true });

const workload = 'name either statefulset, or deployment and pvc';

const templatePaths = z
  .object({
    httpIngress: template('ingress for HTTP'),
    grpcIngress: template('ingress for gRPC'),
    service: template('service'),
    statefulset: template('StatefulSet').optional(),
    deployment: template('Deployment, in place of a StatefulSet').optional(),
    pvc: template('PersistentVolumeClaim of the Deployment').optional(),
  })
  .refine(({ statefulset, deployment }) => (statefulset === undefined) !== (deployment === undefined), workload)
  .refine(({ deployment, pvc }) => (deployment === undefined) === (pvc === undefined), workload)
  .describe('Go templates of the objects; relative to the file that names them.');

/** The kind of runtime `kubernetes`: objects of its own for each runtime, made from templates. */
export const RuntimeConfig = z.object({
  host: z
    .string()
    .regex(/^https?:\/\/[^/\s]+/, 'must be a URL like http://node-*.example.com')
    .refine((text) => text.includes('*'), 'must contain *, which becomes the id of the runtime')
    .describe('URL of a runtime; `*` becomes its id.'),
  image: z.string().min(1).describe('Image of the runtime, without its tag.'),
  namespace: namespace().describe('Where its objects are made.'),
  timeoutSeconds: count(1).default(300).describe('How long a runtime may take to become ready.'),
  dataDir: z.string().optional().describe('Directory for its data, for the templates and the grant.'),
  kubeconfigPath: z
    .string()
    .optional()
    .describe('Kubeconfig of the cluster; empty or absent: the cluster that the server runs in.')
    .meta({ filePath: true }),
  templatePaths,
  slot: slotSize,
});
export type RuntimeConfig = z.output<typeof RuntimeConfig>;

/** Which templates there are, in the order in which their objects are applied: storage and workload before what leads to them. */
export const TEMPLATES = ['pvc', 'statefulset', 'deployment', 'service', 'httpIngress', 'grpcIngress'] as const;
export type TemplateName = (typeof TEMPLATES)[number];

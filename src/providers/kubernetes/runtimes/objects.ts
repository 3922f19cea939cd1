// What the templates of a runtime come to: rendered, checked and labelled objects, before anything is applied.
import { createHash } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { RuntimeGrant, RuntimeRequest } from '#core/runtime-host.ts';
import { resourcesOf } from '#core/slot-size.ts';
import { goStruct, goTexts } from '#gotemplate/value/data.ts';
import type { KubeObject } from '#kube/object.ts';
import type { KubeResource } from '#kube/resource.ts';
import type { RuntimeConfig, TemplateName } from './config.ts';
import { readManifest } from './manifest.ts';
import { DIGEST, labelsOfRuntime, objectNames, RESOURCES } from './names.ts';
import type { TemplateData, Templates } from './templates.ts';

export interface RuntimeObject {
  readonly template: TemplateName;
  readonly resource: KubeResource;
  readonly object: KubeObject;
}

export interface RuntimeObjects {
  readonly digest: string;
  /** Hash of what all requests are rendered from. */
  readonly templates: string;
  readonly grant: RuntimeGrant;
  /** In the order in which they are applied. */
  readonly objects: readonly RuntimeObject[];
}

// A StatefulSet names its revisions `<name>-<ten letters>` in a label, which may have 63 letters.
const LONGEST_ID = 63 - 'runtime-'.length - 11;

const MOST_KEPT = 100;

/** The objects of requests. A pass asks for the same a few times, and rendering is most of its work. */
export function openRendering(
  config: RuntimeConfig,
  parts: { readonly templates: Templates; readonly cluster: string },
): (request: RuntimeRequest) => RuntimeObjects {
  const kept = new Map<string, RuntimeObjects>();
  return (request) => {
    const key = `${parts.templates.stamp()} ${JSON.stringify(request)}`;
    const known = kept.get(key);
    if (known) return known;
    const made = objectsOf(request, config, parts);
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size >= MOST_KEPT) kept.delete(oldest);
    kept.set(key, made);
    return made;
  };
}

function objectsOf(
  request: RuntimeRequest,
  config: RuntimeConfig,
  { templates, cluster }: { readonly templates: Templates; readonly cluster: string },
): RuntimeObjects {
  const { id } = request;
  if (id.length > LONGEST_ID) {
    const remedy = `Use at most ${LONGEST_ID} letters.`;
    throw new Fault('invalid', `The id ${id} is too long for objects of Kubernetes.`, { at: 'body.id', remedy });
  }
  const grant = grantOf(request, config);
  const texts = templates.render(dataOf(request, config, grant));
  const { namespace } = config;
  const bare = [...texts].map(([template, text]) => {
    const resource = RESOURCES[template];
    const expected = { resource, name: objectNames(id)[template], namespace, path: templates.pathOf(template) };
    return { template, resource, object: readManifest(text, expected) };
  });
  const digest = digestOf(bare.map(({ object }) => object));
  const labels = labelsOfRuntime(cluster, id);
  const objects = bare.map((one) => ({ ...one, object: labelled(one.template, one.object, labels, digest) }));
  const { host, image, dataDir, slot } = config;
  const settings = JSON.stringify([namespace, host, image, dataDir, slot]);
  return { digest, templates: shortDigest(templates.digest(), settings), grant, objects };
}

function grantOf({ id, slots, diskGb }: RuntimeRequest, { host, dataDir, slot }: RuntimeConfig): RuntimeGrant {
  const url = host.replaceAll('*', id);
  return { host: url, audience: url, dataDir, ...resourcesOf(slots, slot, diskGb) };
}

/**
 * The values of the templates, by the names and of the types that those of Rill have: a name that does not exist is refused,
 * also where a pipeline would make an empty text of it.
 */
function dataOf(request: RuntimeRequest, config: RuntimeConfig, grant: RuntimeGrant): TemplateData {
  const { id, slots, version, environment, annotations } = request;
  const names = objectNames(id);
  return goStruct('TemplateData', {
    Image: config.image,
    ImageTag: version,
    // An Ingress takes no port.
    Host: new URL(grant.host).hostname,
    CPU: grant.cpu,
    MemoryGB: grant.memoryGb,
    StorageBytes: BigInt(grant.storageBytes),
    Slots: slots,
    DataDir: config.dataDir ?? '',
    ProvisionID: id,
    Environment: environment,
    Annotations: goTexts(annotations),
    Names: goStruct('TemplateNames', {
      HTTPIngress: names.httpIngress,
      GRPCIngress: names.grpcIngress,
      Service: names.service,
      StatefulSet: names.statefulset,
      Deployment: names.deployment,
      PVC: names.pvc,
    }),
  });
}

type Map_ = Readonly<Record<string, unknown>>;

/** The object with our labels and the digest; claims that a StatefulSet makes bear the labels too, so that they are found. */
function labelled(
  template: TemplateName,
  object: KubeObject,
  labels: Readonly<Record<string, string>>,
  digest: string,
): KubeObject {
  const { metadata } = object;
  const whole: KubeObject = {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, [DIGEST]: digest },
    },
  };
  if (template === 'statefulset') return withReplicas(withClaims(whole, labels));
  return template === 'deployment' ? withReplicas(whole) : whole;
}

/** One where the template names none: a field that is not ours would stay at 0 when others scale the workload to nothing. */
const withReplicas = (object: KubeObject): KubeObject => ({
  ...object,
  spec: { replicas: 1, ...(object.spec as Map_ | undefined) },
});

function withClaims(object: KubeObject, labels: Readonly<Record<string, string>>): KubeObject {
  const spec = (object.spec ?? {}) as Map_ & { readonly volumeClaimTemplates?: readonly KubeObject[] };
  const claims = (spec.volumeClaimTemplates ?? []).map((claim) => ({
    ...claim,
    metadata: { ...claim.metadata, labels: { ...claim.metadata?.labels, ...labels } },
  }));
  return {
    ...object,
    spec: {
      ...spec,
      ...(claims.length > 0 && { volumeClaimTemplates: claims }),
      // Claims must outlive the set: it is deleted to grow them, and to hibernate. A release deletes them itself.
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    },
  };
}

/** Of what was rendered, not of the templates: another value is another object. */
function digestOf(objects: readonly KubeObject[]): string {
  return shortDigest(...objects.map((object) => JSON.stringify(object)));
}

function shortDigest(...texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\n');
  return hash.digest('hex').slice(0, 16);
}

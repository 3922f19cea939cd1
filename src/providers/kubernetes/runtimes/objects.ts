// What the templates of a runtime come to: rendered, checked and labelled objects, before anything is applied.
import { createHash } from 'node:crypto';
import { isMap, LineCounter, parseAllDocuments } from 'yaml';
import { Fault } from '#core/fault.ts';
import type { RuntimeGrant, RuntimeRequest } from '#core/runtime-host.ts';
import { resourcesOf } from '#core/slot-size.ts';
import type { KubeObject } from '#kube/object.ts';
import { apiVersionOf, type KubeResource } from '#kube/resource.ts';
import type { RuntimeConfig, TemplateName } from './config.ts';
import { DIGEST, labelsOfRuntime, objectNames, RESOURCES } from './names.ts';
import type { Templates } from './templates.ts';

export interface RuntimeObject {
  readonly template: TemplateName;
  readonly resource: KubeResource;
  readonly object: KubeObject;
}

export interface RuntimeObjects {
  readonly digest: string;
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
  const bare = [...texts].map(([template, text]) => {
    const resource = RESOURCES[template];
    return {
      template,
      resource,
      object: checked(text, { template, resource, path: templates.pathOf(template), id, config }),
    };
  });
  const digest = digestOf(bare.map(({ object }) => object));
  const labels = labelsOfRuntime(cluster, id);
  const objects = bare.map((one) => ({ ...one, object: labelled(one.template, one.object, labels, digest) }));
  return { digest, grant, objects };
}

function grantOf({ id, slots, diskGb }: RuntimeRequest, { host, dataDir, slot }: RuntimeConfig): RuntimeGrant {
  const url = host.replace('*', id);
  return { host: url, audience: url, dataDir, ...resourcesOf(slots, slot, diskGb) };
}

/** The values of the templates, by the names that those of Rill have. */
function dataOf(
  request: RuntimeRequest,
  config: RuntimeConfig,
  grant: RuntimeGrant,
): Readonly<Record<string, unknown>> {
  const { id, slots, version, environment, annotations } = request;
  const names = objectNames(id);
  return {
    Image: config.image,
    ImageTag: version,
    // An Ingress takes no port.
    Host: new URL(grant.host).hostname,
    CPU: grant.cpu,
    MemoryGB: grant.memoryGb,
    StorageBytes: grant.storageBytes,
    Slots: slots,
    DataDir: config.dataDir ?? '',
    ProvisionID: id,
    Environment: environment,
    Annotations: annotations,
    Names: {
      HTTPIngress: names.httpIngress,
      GRPCIngress: names.grpcIngress,
      Service: names.service,
      StatefulSet: names.statefulset,
      Deployment: names.deployment,
      PVC: names.pvc,
    },
  };
}

interface Expected {
  readonly template: TemplateName;
  readonly resource: KubeResource;
  readonly path: string;
  readonly id: string;
  readonly config: RuntimeConfig;
}

/** The one object that a template gives, with its name and namespace; anything else is refused with file and line. */
function checked(text: string, { template, resource, path, id, config }: Expected): KubeObject {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, logLevel: 'silent' });
  const refuse = (message: string, offset = 0): Fault => {
    const { line } = lines.linePos(offset);
    const at = `${path}:${line}`;
    return new Fault('invalid', `${path}: line ${line} of what it renders: ${message}`, { at });
  };
  if (!Array.isArray(documents)) throw refuse('nothing is rendered');
  const [document, second] = documents;
  if (!document || !isMap(document.contents)) throw refuse('one object is wanted');
  if (second) throw refuse('a second object follows; one is wanted', second.range?.[0]);
  const [error] = document.errors;
  if (error) throw refuse(`this is no YAML: ${error.message.split('\n')[0]}`, error.pos[0]);
  const value = document.toJS() as Readonly<Record<string, unknown>>;
  const offsetOf = (...keys: string[]): number =>
    (document.getIn(keys, true) as { range?: readonly number[] } | undefined)?.range?.[0] ?? 0;
  const { kind, apiVersion, metadata } = value as { kind?: unknown; apiVersion?: unknown; metadata?: unknown };
  if (kind !== resource.kind || apiVersion !== apiVersionOf(resource)) {
    const found = `${String(apiVersion)} ${String(kind)}`;
    throw refuse(`${apiVersionOf(resource)} ${resource.kind} is wanted, not ${found}`, offsetOf('kind'));
  }
  const meta = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  const name = objectNames(id)[template];
  for (const [key, wanted] of [
    ['name', name],
    ['namespace', config.namespace],
  ] as const) {
    if (meta[key] === undefined || meta[key] === wanted) continue;
    throw refuse(`${key} must be ${wanted} or absent, not ${String(meta[key])}`, offsetOf('metadata', key));
  }
  return { ...value, metadata: { ...meta, name, namespace: config.namespace } };
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
  return template === 'statefulset' ? withClaims(whole, labels) : whole;
}

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
  const hash = createHash('sha256');
  for (const object of objects) hash.update(JSON.stringify(object)).update('\n');
  return hash.digest('hex').slice(0, 16);
}

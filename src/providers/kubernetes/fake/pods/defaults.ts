// What the API server fills into a pod. Service account tokens are not mounted: no pod here asks for one.
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';

const pullPolicy = (image: string): string => {
  const tag = /:([^:/@]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' && !image.includes('@') ? 'Always' : 'IfNotPresent';
};

/** What has a limit and no request asks for its limit. */
function resources(written: Fields): Fields {
  const limits = fieldsOf(written.limits);
  return written.limits === undefined
    ? written
    : { ...written, requests: { ...limits, ...fieldsOf(written.requests) } };
}

const prepareContainer = (container: Fields): Fields => ({
  ...container,
  resources: resources(fieldsOf(container.resources)),
  terminationMessagePath: container.terminationMessagePath ?? '/dev/termination-log',
  terminationMessagePolicy: container.terminationMessagePolicy ?? 'File',
  imagePullPolicy: container.imagePullPolicy ?? pullPolicy(textOf(container.image)),
});

const CONFIG_FILE_MODE = 0o644;

function prepareVolume(volume: Fields): Fields {
  if (volume.configMap === undefined) return volume;
  return { ...volume, configMap: { defaultMode: CONFIG_FILE_MODE, ...fieldsOf(volume.configMap) } };
}

const TOLERATIONS = ['not-ready', 'unreachable'].map((word) => ({
  key: `node.kubernetes.io/${word}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

function withUsual(tolerations: readonly unknown[]): unknown[] {
  const named = new Set(tolerations.map((one) => fieldsOf(one).key));
  return [...tolerations, ...TOLERATIONS.filter(({ key }) => !named.has(key))];
}

function qosClass(containers: readonly Fields[]): string {
  const all = containers.map((container) => fieldsOf(container.resources));
  if (all.every(({ requests, limits }) => requests === undefined && limits === undefined)) return 'BestEffort';
  const isFirm = all.every(({ requests, limits }) =>
    ['cpu', 'memory'].every(
      (name) => fieldsOf(limits)[name] !== undefined && fieldsOf(limits)[name] === fieldsOf(requests)[name],
    ),
  );
  return isFirm ? 'Guaranteed' : 'Burstable';
}

export function preparePod(draft: KubeObject, old: KubeObject | undefined): KubeObject {
  const spec = fieldsOf(draft.spec);
  const containers = listOf(spec.containers).map(fieldsOf).map(prepareContainer);
  const account = textOf(spec.serviceAccountName) || textOf(spec.serviceAccount) || 'default';
  const volumes = spec.volumes === undefined ? {} : { volumes: listOf(spec.volumes).map(fieldsOf).map(prepareVolume) };
  const inits =
    spec.initContainers === undefined
      ? {}
      : { initContainers: listOf(spec.initContainers).map(fieldsOf).map(prepareContainer) };
  return {
    ...draft,
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      securityContext: {},
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
      priority: 0,
      ...spec,
      ...volumes,
      ...inits,
      containers,
      serviceAccountName: account,
      serviceAccount: account,
      tolerations: old ? listOf(spec.tolerations) : withUsual(listOf(spec.tolerations)),
    },
    status: draft.status ?? { phase: 'Pending', qosClass: qosClass(containers) },
  };
}

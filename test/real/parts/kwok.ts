// What kwok plays: nodes that are ready, and pods that run, end and go, without a process behind them.

/** Nodes with this label are played. */
export const PLAYED = { 'muster.test/played': 'yes' };
/** A pod with this annotation ends with the exit code that it names. */
export const EXIT_ANNOTATION = 'muster.test/exit';

const stage = (name: string, kind: string, selector: readonly object[], next: object): object => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: { resourceRef: { apiGroup: 'v1', kind }, selector: { matchExpressions: selector }, next },
});

const when = (key: string, operator: string, values?: readonly string[]): object => ({
  key,
  operator,
  ...(values && { values }),
});

const NODE_STATUS = `
phase: Running
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ Now | Quote }}
  lastTransitionTime: {{ Now | Quote }}
{{ end }}
addresses:
- type: InternalIP
  address: {{ NodeIP | Quote }}
daemonEndpoints:
  kubeletEndpoint:
    Port: {{ NodePort }}
`;

const podStatus = (address: string): string => `
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: ${address}
conditions:
{{ range $type := ( list "Initialized" "ContainersReady" "Ready" ) }}
- type: {{ $type }}
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: true
  restartCount: 0
  started: true
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
`;

const POD_END = `
{{ $now := Now }}
{{ $code := index .metadata.annotations "${EXIT_ANNOTATION}" }}
phase: {{ if eq $code "0" }}Succeeded{{ else }}Failed{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: {{ $code }}
      reason: {{ if eq $code "0" }}Completed{{ else }}Error{{ end }}
      startedAt: {{ $now | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
`;

const IS_READY = '.status.conditions.[] | select( .type == "Ready" ) | .status';
const DELETED = '.metadata.deletionTimestamp';
const EXIT = `.metadata.annotations["${EXIT_ANNOTATION}"]`;

/** The file that kwok is started with; pods have that address, or one each. */
export function kwokFile(podAddress?: string): string {
  const name = '( or .metadata.name "" ) ( or .metadata.namespace "" )';
  const own = `{{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ${name} | Quote }}`;
  const [label, value] = Object.entries(PLAYED)[0] ?? [];
  const documents = [
    {
      apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
      kind: 'KwokConfiguration',
      options: {
        manageNodesWithLabelSelector: `${label}=${value}`,
        podPlayStageParallelism: 32,
        nodePlayStageParallelism: 32,
        nodeLeaseParallelism: 8,
      },
    },
    stage('node-up', 'Node', [when(IS_READY, 'NotIn', ['True'])], { statusTemplate: NODE_STATUS }),
    stage('pod-run', 'Pod', [when(DELETED, 'DoesNotExist'), when('.status.podIP', 'DoesNotExist')], {
      statusTemplate: podStatus(podAddress ?? own),
    }),
    stage(
      'pod-end',
      'Pod',
      [when(DELETED, 'DoesNotExist'), when('.status.phase', 'In', ['Running']), when(EXIT, 'Exists')],
      {
        statusTemplate: POD_END,
      },
    ),
    stage('pod-gone', 'Pod', [when(DELETED, 'Exists')], { delete: true, finalizers: { empty: true } }),
  ];
  return documents.map((one) => JSON.stringify(one)).join('\n---\n');
}

export interface PlayedNode {
  readonly labels?: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly taints?: readonly object[];
}

/** A node for the pods of tests, roomy where nothing else is said. */
export function playedNode(name: string, { labels = {}, allocatable = {}, taints = [] }: PlayedNode = {}): object {
  const room = { cpu: '64', memory: '256Gi', pods: '1000', ...allocatable };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...PLAYED, 'kubernetes.io/hostname': name, ...labels } },
    spec: { taints },
    status: { allocatable: room, capacity: room },
  };
}

import type { Clock } from '#core/clock.ts';
import type { Random } from '#core/random.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { checkOwnerReferences } from './access/owner-references.ts';
import { type Attempt, mayDo, refusalText } from './access/rbac.ts';
import { review } from './access/reviews.ts';
import { openUsers, type User, type Users } from './access/users.ts';
import { answerObjects } from './answer.ts';
import { QUESTIONS } from './api/discovery.ts';
import { answerPlainPath, unknownPath } from './api/plain-paths.ts';
import { openRegistry } from './api/registry.ts';
import { runBalancers } from './controllers/balancers.ts';
import { runDisruptionController } from './controllers/disruption-budgets.ts';
import { runGarbageCollector } from './controllers/garbage.ts';
import { answerIngress } from './controllers/ingress.ts';
import { runNamespaceController } from './controllers/namespaces.ts';
import { runOrphanedPodCollector } from './controllers/orphaned-pods.ts';
import { runWorkloadController } from './controllers/workloads.ts';
import { runCrdController } from './crds/controller.ts';
import { fieldsOf, type KubeObject, timestamp } from './objects/object.ts';
import { openStore } from './objects/store.ts';
import { newUid } from './objects/uid.ts';
import { openWatches, type Watches } from './objects/watches.ts';
import { type Disruptions, openDisruptions } from './pods/disruptions.ts';
import { type Kubelet, runKubelet } from './pods/kubelet.ts';
import { type NodeDraft, type Nodes, openNodes } from './pods/nodes.ts';
import type { PodRunner } from './pods/runner.ts';
import { jsonResponse } from './wire/form.ts';
import { type KubeCall, readCall, type Target } from './wire/read-call.ts';
import { forbidden, refusalResponse, tooManyRequests } from './wire/status.ts';
import { type Behaviour, USUAL_BEHAVIOUR, type World } from './world.ts';

export interface FakeKubernetesOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly behaviour?: Partial<Behaviour> | undefined;
  /** Default: three large nodes. */
  readonly nodes?: readonly NodeDraft[] | undefined;
  /** Default: containers that run in thought alone. */
  readonly runner?: PodRunner | undefined;
}

/** A call that reached the fake API server. */
export interface Call extends RecordedCall {
  readonly verb: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

/** A simulated cluster: API server, scheduler, kubelets and controllers, its state apart from all clients. */
export interface FakeKubernetes extends Answering<KubeCall, Call> {
  readonly behaviour: Behaviour;
  readonly world: World;
  /** What happens to pods. */
  readonly kubelet: Kubelet;
  /** Evictions, preemptions, deaths of nodes. */
  readonly disruptions: Disruptions;
  readonly nodes: Nodes;
  /** Tokens, and whether one is needed. */
  readonly users: Users;
  /** Open watches, to be troubled. */
  readonly watches: Watches;
  /** The objects of a resource as they are, without a call; `pods` or `agentpools.velda.io`. */
  objects(resource: string, namespace?: string): readonly KubeObject[];
  object(resource: string, namespace: string | undefined, name: string): KubeObject | undefined;
  /** The API server starts anew: watches break, and no revision of before can be watched from. */
  restart(): void;
}

const NODES: readonly NodeDraft[] = ['node-1', 'node-2', 'node-3'].map((name) => ({ name }));
const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

function openWorld({ clock, random, behaviour: wanted }: FakeKubernetesOptions): World {
  const behaviour = { ...USUAL_BEHAVIOUR, ...wanted };
  return {
    clock,
    random,
    behaviour,
    store: openStore(() => behaviour.historyLimit),
    registry: openRegistry(),
    watches: openWatches(clock),
  };
}

function addSeedObjects({ store, clock, random }: World): void {
  const freshMeta = (name: string) => ({
    name,
    uid: newUid(random),
    resourceVersion: '',
    creationTimestamp: timestamp(clock.now()),
  });
  for (const name of NAMESPACES) {
    store.add('/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { ...freshMeta(name), labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  }
  store.add('rbac.authorization.k8s.io/clusterroles', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: freshMeta('cluster-admin'),
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
  });
}

function checkRight(world: World, user: User, verb: string, target: Target): void {
  const { group, plural, namespace, name, subresource } = target;
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const attempt: Attempt = { verb, group, resource, namespace, name };
  if (!mayDo(world, user, attempt)) throw forbidden({ group, plural }, name ?? '', refusalText(user, attempt));
}

function storageNamed(resource: string): string {
  const [plural = '', ...group] = resource.split('.');
  return `${group.join('.')}/${plural}`;
}

export function openFakeKubernetes(options: FakeKubernetesOptions): FakeKubernetes {
  const world = openWorld(options);
  const { store, registry, watches, clock } = world;
  const users = openUsers(clock, options.random);
  const nodes = openNodes(world);
  runCrdController(world);
  runNamespaceController(world);
  runGarbageCollector(world);
  runOrphanedPodCollector(world);
  runWorkloadController(world);
  runDisruptionController(world);
  runBalancers(world);
  const kubelet = runKubelet({ world, nodes, runner: options.runner });
  addSeedObjects(world);
  for (const node of options.nodes ?? NODES) nodes.add(node);

  function answer(call: KubeCall, signal: AbortSignal): Response {
    const { target } = call;
    const user = users.of(call);
    if (!target) return answerPlainPath(call, registry);
    const question = QUESTIONS.find(({ group, plural }) => group === target.group && plural === target.plural);
    if (question) {
      return jsonResponse(JSON.stringify(review(world, user, question.kind, fieldsOf(JSON.parse(call.body)))), 201);
    }
    const resource = registry.find(target.group, target.version, target.plural);
    if (!resource) throw unknownPath();
    checkRight(world, user, call.verb, target);
    checkOwnerReferences(world, user, call);
    return answerObjects({ world, users, call, resource, signal });
  }

  const answering = openAnswering<KubeCall, Call>(
    {
      read: readCall,
      record: ({ service, action, region, verb, path, query, body }, atMs) => ({
        service,
        action,
        region,
        verb,
        path,
        query,
        body,
        atMs,
        outcome: 'open',
      }),
      answer,
      refuse: (_call, refused) => refusalResponse(refused),
      tooMuch: tooManyRequests,
    },
    clock,
  );

  const handle = async (request: Request): Promise<Response> =>
    answerIngress(world, request) ?? answering.handle(request);

  return {
    ...answering,
    handle,
    fetch: (input, init) => handle(new Request(input, init)),
    behaviour: world.behaviour,
    world,
    kubelet,
    disruptions: openDisruptions(world, nodes, kubelet),
    users,
    nodes,
    watches,
    objects: (resource, namespace) => store.list(storageNamed(resource), namespace),
    object: (resource, namespace, name) => store.get(storageNamed(resource), namespace, name),
    restart() {
      store.forget();
      watches.reset();
    },
  };
}

import type { Clock } from '#core/clock.ts';
import type { Random } from '#core/random.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { answerObjects } from './answer.ts';
import { answerPlainPath, unknownPath } from './api/plain-paths.ts';
import { openRegistry } from './api/registry.ts';
import { runNamespaceController } from './controllers/namespaces.ts';
import { runCrdController } from './crds/controller.ts';
import { type KubeObject, timestamp } from './objects/object.ts';
import { openStore } from './objects/store.ts';
import { newUid } from './objects/uid.ts';
import { openWatches, type Watches } from './objects/watches.ts';
import { type Kubelet, runKubelet } from './pods/kubelet.ts';
import { type NodeDraft, type Nodes, openNodes } from './pods/nodes.ts';
import type { PodRunner } from './pods/runner.ts';
import { type KubeCall, readCall } from './wire/read-call.ts';
import { refusalResponse, tooManyRequests } from './wire/status.ts';
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
  readonly nodes: Nodes;
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

function furnish({ store, clock, random }: World): void {
  for (const name of NAMESPACES) {
    store.add('/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name,
        uid: newUid(random),
        resourceVersion: '',
        creationTimestamp: timestamp(clock.now()),
        labels: { 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  }
}

function storageNamed(resource: string): string {
  const [plural = '', ...group] = resource.split('.');
  return `${group.join('.')}/${plural}`;
}

export function openFakeKubernetes(options: FakeKubernetesOptions): FakeKubernetes {
  const world = openWorld(options);
  const { store, registry, watches, clock } = world;
  const nodes = openNodes(world);
  runCrdController(world);
  runNamespaceController(world);
  const kubelet = runKubelet({ world, nodes, runner: options.runner });
  furnish(world);
  for (const node of options.nodes ?? NODES) nodes.add(node);

  function answer(call: KubeCall, signal: AbortSignal): Response {
    const { target } = call;
    if (!target) return answerPlainPath(call, registry);
    const resource = registry.find(target.group, target.version, target.plural);
    if (!resource) throw unknownPath();
    return answerObjects({ world, call, resource, signal });
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

  return {
    ...answering,
    behaviour: world.behaviour,
    world,
    kubelet,
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

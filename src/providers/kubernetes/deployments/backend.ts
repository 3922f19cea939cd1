// A Deployment for each machine, which owns all else that the machine needs: with it everything goes.
import { Fault, isUnclear } from '#core/fault.ts';
import type { Backend, Context, Launch, Machine, Outcome } from '#core/provider.ts';
import { isAlreadyThere } from '#kube/faults.ts';
import type { KubeObject } from '#kube/object.ts';
import { DEPLOYMENTS, type KubeResource, PODS, SECRETS, SERVICES } from '#kube/resource.ts';
import { clusterOf } from '../cluster.ts';
import { FRESH_WITHIN_MS, leastGapMs, openExactListing } from '../listing.ts';
import { keptOfPod, type Pod } from '../pods/machine.ts';
import { podMachines } from '../pods/machines.ts';
import { LAUNCH_ANNOTATION, markOf } from '../pods/marks.ts';
import { inTurns, outcomeOf, untilTaken } from '../turns.ts';
import type { DeploymentConfig } from './config.ts';
import {
  currentPods,
  type Deployment,
  isBeingMade,
  keptOfDeployment,
  keptOfService,
  machineOf,
  type Service,
} from './machine.ts';
import { deploymentOf, machinesOfCluster, secretOf, serviceOf, templateOf } from './objects.ts';
import { slowDeployments } from './slow-deployments.ts';

const KEY_BYTES = 32;

/** Half a machine must not stay for a lost answer: asked once more, the API server tells whether it has done so. */
async function again<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (!isUnclear(Fault.from(thrown).kind) || signal.aborted) throw thrown;
    return run();
  }
}

export async function openDeployments(config: DeploymentConfig, context: Context): Promise<Backend> {
  const { access, kube, follow } = await clusterOf(context, config);
  const { clock, cluster, random } = context;
  const template = templateOf(config);
  const named = (template.metadata as { namespace?: string } | undefined)?.namespace;
  const namespace = config.namespace ?? named ?? access.namespace ?? 'default';
  const query = { namespace, labelSelector: machinesOfCluster(cluster) };
  const shown = { resource: DEPLOYMENTS, query, keep: keptOfDeployment };
  const deployments = follow<Deployment>(shown);
  const pods = follow<Pod>({ resource: PODS, query, keep: keptOfPod });
  const services = follow<Service>({ resource: SERVICES, query, keep: keptOfService });
  const views = [deployments, pods, services];
  const listing = openExactListing({ ...shown, kube, view: deployments });
  const podReadings = podMachines({ kube, clock, pods: pods.all() });
  const slow = slowDeployments(deployments.all(), clock);
  const keyOf = (name: string): string => `${namespace}/${name}`;

  /** Created rather than applied: an apply would change the object of somebody else that has this name. */
  const made = (resource: KubeResource, object: KubeObject, signal: AbortSignal): Promise<KubeObject | undefined> =>
    again(signal, () =>
      kube.create(resource, object, signal).catch((thrown) => {
        if (!isAlreadyThere(thrown)) throw thrown;
        return undefined;
      }),
    );

  /** The Deployment that an earlier try has made; a fault where that of somebody else has the name. */
  async function ours(name: string, launch: Launch, signal: AbortSignal): Promise<Deployment> {
    const found = await kube.get(DEPLOYMENTS, { namespace, name }, signal);
    if (!found) throw new Fault('unavailable', `Deployment ${keyOf(name)} was there and is not any more.`);
    if (found.metadata.annotations?.[LAUNCH_ANNOTATION] === launch.id) return keptOfDeployment(found);
    throw new Fault('denied', `Another Deployment is named ${keyOf(name)}.`);
  }

  /** Names of machines are never used again, so a Secret or Service of that name is of an earlier try. */
  async function finish(owner: KubeObject, launch: Launch, signal: AbortSignal): Promise<void> {
    const key = Buffer.from(random.bytes(KEY_BYTES)).toString('hex');
    const service = serviceOf(launch, owner, config);
    await Promise.all([
      made(SECRETS, secretOf(launch, owner, key), signal),
      service && made(SERVICES, service, signal),
    ]);
    const at = { namespace, name: owner.metadata.name };
    const merge = { spec: { paused: false } };
    deployments.learn(await again(signal, () => kube.patch(DEPLOYMENTS, at, { merge }, signal)));
  }

  /** Throws where the answer is unclear: the listing will tell. */
  async function createOne(name: string, launch: Launch, signal: AbortSignal): Promise<Outcome> {
    try {
      const fresh = await made(DEPLOYMENTS, deploymentOf(name, launch, { template, namespace }), signal);
      const owner = fresh ? keptOfDeployment(fresh) : await ours(name, launch, signal);
      if (owner.spec.isPaused) await finish(owner, launch, signal);
      return { name };
    } catch (thrown) {
      return outcomeOf(name, thrown);
    }
  }

  /** What was begun of a machine that is refused; one that is complete is of an earlier, successful try. */
  async function removeRemains(name: string, launch: Launch, signal: AbortSignal): Promise<void> {
    const found = await kube.get(DEPLOYMENTS, { namespace, name }, signal);
    if (found?.metadata.annotations?.[LAUNCH_ANNOTATION] !== launch.id) return;
    if (keptOfDeployment(found).spec.isPaused) await remove(found, signal);
  }

  async function createOrLeaveNothing(name: string, launch: Launch, signal: AbortSignal): Promise<Outcome> {
    const outcome = await untilTaken(clock, signal, () => createOne(name, launch, signal));
    if (outcome.fault) await removeRemains(name, launch, signal);
    return outcome;
  }

  /** It goes last: as long as anything of the machine is there, it is listed. */
  async function remove({ metadata: { name, uid } }: KubeObject, signal: AbortSignal): Promise<void> {
    const gone = { namespace, name, uid, propagationPolicy: 'Foreground' } as const;
    await kube.delete(DEPLOYMENTS, gone, signal).catch((thrown) => {
      // Another Deployment of that name: ours is gone.
      if (Fault.from(thrown).kind !== 'stale') throw thrown;
    });
  }

  async function deleteOne({ name, id }: Machine, signal: AbortSignal): Promise<Outcome> {
    const seen = deployments.all().get(keyOf(name)) ?? (await kube.get(DEPLOYMENTS, { namespace, name }, signal));
    if (!seen || (id !== undefined && seen.metadata.uid !== id)) return { name };
    if (markOf(seen)?.cluster !== cluster) {
      const message = `Deployment ${keyOf(name)} does not bear the mark of this cluster.`;
      return { name, fault: new Fault('denied', message) };
    }
    try {
      await remove(seen, signal);
      return { name };
    } catch (thrown) {
      return outcomeOf(name, thrown);
    }
  }

  const read = (deployment: Deployment, pod: Pod | undefined): Machine =>
    machineOf(deployment, {
      pod: pod && podReadings.of(pod, config.schedulingTimeout),
      service: services.all().get(keyOf(deployment.metadata.name)),
      waitedMs: slow.waitedMs(deployment),
      schedulingTimeoutMs: config.schedulingTimeout,
    });

  return {
    cloud: `kubernetes_deployment:${access.id}/${namespace}`,
    account: `kubernetes:${access.id}`,
    get leastGapMs() {
      return leastGapMs(deployments.all().size);
    },
    get isExact() {
      return listing.isExact() ? (true as const) : undefined;
    },
    async list(signal) {
      const all = await listing.list(signal);
      await Promise.all([pods, services].map((view) => view.freshWithin(FRESH_WITHIN_MS, signal)));
      const current = currentPods(pods.all().values());
      await podReadings.slowStarts.ask([...current.values()], signal);
      slow.note(all);
      const machines = all
        .filter((deployment) => !isBeingMade(deployment, slow.waitedMs(deployment)))
        .map((deployment) => read(deployment, current.get(deployment.metadata.name)));
      // With a part of our labels it is the Deployment of somebody else.
      return machines.filter(({ mark }) => mark !== undefined);
    },
    known(name) {
      const deployment = deployments.all().get(keyOf(name));
      if (!deployment || isBeingMade(deployment, slow.waitedMs(deployment))) return undefined;
      return read(deployment, currentPods(pods.all().values()).get(name));
    },
    create: (launch, signal) => inTurns(launch.names, (name) => createOrLeaveNothing(name, launch, signal)),
    delete: (machines, signal) =>
      inTurns(machines, (machine) => untilTaken(clock, signal, () => deleteOne(machine, signal))),
    watch(changed, signal) {
      const stops = views.map((view) => view.onChange(() => changed()));
      const stopAll = (): void => {
        for (const stop of stops) stop();
      };
      signal.addEventListener('abort', stopAll, { once: true });
    },
    async close() {
      await Promise.all(views.map((view) => view.close()));
    },
  };
}

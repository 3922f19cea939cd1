// A pod for each worker, in the namespace of its pool.
import { Fault } from '#core/fault.ts';
import type { Backend, Context, Launch, Machine, Outcome } from '#core/provider.ts';
import { inSlices } from '#core/slices.ts';
import { isAlreadyThere } from '#kube/faults.ts';
import { keyOfObject } from '#kube/object.ts';
import { PODS } from '#kube/resource.ts';
import { clusterOf } from '../cluster.ts';
import type { BackendConfig } from '../config.ts';
import { leastGapMs, openExactListing } from '../listing.ts';
import { inTurns, outcomeOf, untilTaken } from '../turns.ts';
import { keptOfPod, type Pod } from './machine.ts';
import { podMachines } from './machines.ts';
import { LAUNCH_ANNOTATION, markOf, podsOfCluster } from './marks.ts';
import { podOf } from './pod.ts';
import { openTemplate } from './template.ts';

export async function openPods(config: BackendConfig, context: Context): Promise<Backend> {
  const { access, kube, follow } = await clusterOf(context, config);
  const { clock } = context;
  const template = openTemplate(config);
  const first = await template.read();
  const named = (first.metadata as { namespace?: string } | undefined)?.namespace;
  const namespace = config.namespace ?? named ?? access.namespace ?? 'default';
  const watched = config.scope === 'cluster' ? undefined : namespace;
  const query = { namespace: watched, labelSelector: podsOfCluster(context.cluster) };
  const shown = { resource: PODS, query, keep: keptOfPod };
  const pods = follow<Pod>(shown);
  const listing = openExactListing({ ...shown, kube, view: pods });
  const readings = podMachines({ kube, clock, pods: pods.all() });
  const keyOf = (name: string): string => `${namespace}/${name}`;

  /** Throws where the answer is unclear: the listing will tell. */
  async function createOne(name: string, launch: Launch, signal: AbortSignal): Promise<Outcome> {
    const options = { template: await template.read(), namespace, passToken: config.passToken };
    try {
      pods.learn(await kube.create(PODS, podOf(name, launch, options), signal));
      return { name };
    } catch (thrown) {
      if (!isAlreadyThere(thrown)) return outcomeOf(name, thrown);
    }
    // The answer to an earlier try was lost, or the pod of somebody else has the name.
    const found = await kube.get(PODS, { namespace, name }, signal);
    if (!found) throw new Fault('unavailable', `Pod ${keyOf(name)} was there and is not any more.`);
    if (found.metadata.annotations?.[LAUNCH_ANNOTATION] === launch.id) return { name };
    return { name, fault: new Fault('denied', `Another pod is named ${keyOf(name)}.`) };
  }

  /** A pool that has moved to another namespace may still have pods in the old one. */
  function elsewhere({ name, id }: Machine): Pod | undefined {
    if (id === undefined || watched !== undefined) return undefined;
    for (const pod of pods.all().values()) if (pod.metadata.uid === id && pod.metadata.name === name) return pod;
    return undefined;
  }

  async function deleteOne(machine: Machine, signal: AbortSignal): Promise<Outcome> {
    const { name } = machine;
    const seen =
      pods.all().get(keyOf(name)) ?? elsewhere(machine) ?? (await kube.get(PODS, { namespace, name }, signal));
    // Absent, or the pod of that name is another one by now: ours is gone.
    if (!seen || (machine.id !== undefined && seen.metadata.uid !== machine.id)) return { name };
    if (markOf(seen)?.cluster !== context.cluster) {
      return { name, fault: new Fault('denied', `Pod ${keyOfObject(seen)} does not bear the mark of this cluster.`) };
    }
    const { namespace: place, uid } = seen.metadata;
    try {
      await kube.delete(PODS, { namespace: place, name, uid }, signal);
      return { name };
    } catch (thrown) {
      return Fault.from(thrown).kind === 'stale' ? { name } : outcomeOf(name, thrown);
    }
  }

  const read = (pod: Pod): Machine => readings.of(pod, config.schedulingTimeout);

  return {
    cloud: `kubernetes:${access.id}/${watched ?? '*'}`,
    // One watch of the whole cluster shows the same pods as one of their namespace.
    place: `kubernetes:${access.id}/${namespace}`,
    account: `kubernetes:${access.id}`,
    get leastGapMs() {
      return leastGapMs(pods.all().size);
    },
    get isExact() {
      return listing.isExact() ? (true as const) : undefined;
    },
    async list(signal) {
      const all = await listing.list(signal);
      await readings.slowStarts.ask(all, signal);
      const machines: Machine[] = [];
      await inSlices(clock, all, (pod) => {
        const machine = read(pod);
        // With a part of our labels it is the pod of somebody else, or was made so.
        if (machine.mark !== undefined) machines.push(machine);
      });
      return machines;
    },
    known(name) {
      const pod = pods.all().get(keyOf(name));
      return pod && read(pod);
    },
    create: (launch, signal) =>
      inTurns(launch.names, (name) => untilTaken(clock, signal, () => createOne(name, launch, signal))),
    delete: (machines, signal) =>
      inTurns(machines, (machine) => untilTaken(clock, signal, () => deleteOne(machine, signal))),
    ...(config.podTemplatePath === undefined ? {} : { form: () => template.form() }),
    watch(changed, signal) {
      const stop = pods.onChange(() => changed());
      signal.addEventListener('abort', stop, { once: true });
    },
    close: () => pods.close(),
  };
}

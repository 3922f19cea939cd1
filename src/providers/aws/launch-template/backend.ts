import type { Instance } from '@aws-sdk/client-ec2';
import type { Backend, Context, Machine, Outcome } from '#core/provider.ts';
import { type Ec2Calls, ec2At, type Service, ssmAt } from '../client.ts';
import { type LaunchConfig, regionIn } from '../config.ts';
import { changeMachines } from './change.ts';
import { creatorOf } from './create.ts';
import { openImages } from './images.ts';
import { findInstances } from './instances.ts';
import { machineOf, SHOW_STILLBORN_MS } from './machine.ts';
import { CLUSTER, nameOf } from './marks.ts';
import { readTemplate } from './template.ts';

/** What all pools on one cloud share beside its limits. */
interface Shared {
  readonly images: ReturnType<typeof openImages>;
  /** Names of deleted machines, and when: once EC2 shows such a one as terminated, it is not listed as a late failure. */
  readonly deleted: Map<string, number>;
}

const shared = new WeakMap<Service<Ec2Calls>, Shared>();

function sharedOn(ec2: Service<Ec2Calls>, context: Context, config: LaunchConfig): Shared {
  const kept = shared.get(ec2) ?? {
    images: openImages({
      ec2,
      ssm: () => ssmAt(context, { region: ec2.region, endpoint: config.endpoint }),
      clock: context.clock,
    }),
    deleted: new Map<string, number>(),
  };
  shared.set(ec2, kept);
  return kept;
}

const cloudOf = ({ region, elsewhere }: Service<Ec2Calls>): string =>
  elsewhere === undefined ? `aws:${region}` : `aws:${region}@${elsewhere}`;

export async function openLaunchTemplate(config: LaunchConfig, context: Context): Promise<Backend> {
  const { cluster, clock } = context;
  const ec2 = await ec2At(context, { region: regionIn(config), endpoint: config.endpoint });
  const { images, deleted } = sharedOn(ec2, context, config);
  const finder = { ec2, cluster };
  const change = (what: 'delete' | 'suspend' | 'resume') => (machines: readonly Machine[], signal: AbortSignal) =>
    changeMachines(finder, what, { machines, signal });

  async function list(signal: AbortSignal): Promise<Machine[]> {
    const instances = await findInstances(ec2, [{ Name: `tag:${CLUSTER}`, Values: [cluster] }], signal);
    for (const [name, atMs] of deleted) if (clock.now() - atMs >= SHOW_STILLBORN_MS) deleted.delete(name);
    const seen = instances.filter((one) => !(isTerminated(one) && deleted.has(nameOf(one) ?? '')));
    return seen.flatMap((instance) => machineOf(instance, clock.now()) ?? []);
  }

  async function remove(machines: readonly Machine[], signal: AbortSignal): Promise<Outcome[]> {
    const outcomes = await change('delete')(machines, signal);
    for (const { name, fault } of outcomes) if (!fault) deleted.set(name, clock.now());
    return outcomes;
  }

  const image = (signal: AbortSignal): Promise<string | undefined> => images(config, signal);
  const backend: Backend = {
    cloud: cloudOf(ec2),
    list,
    create: creatorOf({ ec2, config, image }),
    delete: remove,
    async form(signal) {
      const [template, id] = await Promise.all([readTemplate(ec2, config, signal), image(signal)]);
      return [template?.id, template?.version, id].filter(Boolean).join(' ');
    },
  };
  // A spot machine of one request cannot be stopped.
  if (config.market === 'spot' || config.maxStoppedInstances === 0) return backend;
  const maxAgeMs = config.maxInstanceLifetime || undefined;
  const parking = { most: config.maxStoppedInstances, suspend: change('suspend'), resume: change('resume') };
  return { ...backend, park: { ...parking, maxAgeMs } };
}

const isTerminated = ({ State }: Instance): boolean => State?.Name === 'terminated';

import type { Backend, Context, Machine } from '#core/provider.ts';
import { type Ec2Calls, ec2At, type Service, ssmAt } from '../client.ts';
import { type LaunchConfig, regionIn } from '../config.ts';
import { CLUSTER } from '../marks.ts';
import { changeMachines } from './change.ts';
import { creationOf } from './create.ts';
import { findInstances } from './find.ts';
import { findImage } from './images.ts';
import { machineOf } from './machine.ts';
import { readTemplate } from './template.ts';

const cloudOf = ({ region, elsewhere }: Service<Ec2Calls>): string =>
  elsewhere === undefined ? `aws:${region}` : `aws:${region}@${elsewhere}`;

export async function openLaunchTemplate(config: LaunchConfig, context: Context): Promise<Backend> {
  const { cluster } = context;
  const { endpoint } = config;
  const ec2 = await ec2At(context, { region: regionIn(config), endpoint });
  await ec2.mustHaveCredentials();
  const ssm = () => ssmAt(context, { region: ec2.region, endpoint });
  const change = (what: 'delete' | 'suspend' | 'resume') => (machines: readonly Machine[], signal: AbortSignal) =>
    changeMachines({ ec2, cluster }, what, { machines, signal });

  /** Template and image as they are now. */
  async function find(signal: AbortSignal) {
    const template = await readTemplate(ec2, config, signal);
    const type = config.instanceType ?? template?.instanceType;
    const image = await findImage({ ec2, ssm }, { config, type }, signal);
    return { template, image };
  }

  const backend: Backend = {
    cloud: cloudOf(ec2),
    async list(signal) {
      const instances = await findInstances(ec2, [{ Name: `tag:${CLUSTER}`, Values: [cluster] }], signal);
      return instances.flatMap((instance) => machineOf(instance) ?? []);
    },
    ...creationOf({ ec2, config, find }),
    delete: change('delete'),
    async form(signal) {
      const { template, image } = await find(signal);
      return [template?.id, template?.version, image].filter(Boolean).join(' ');
    },
  };
  // A spot machine of one request cannot be stopped.
  if (config.market === 'spot' || config.maxStoppedInstances === 0) return backend;
  const maxAgeMs = config.maxInstanceLifetime || undefined;
  const parking = { most: config.maxStoppedInstances, suspend: change('suspend'), resume: change('resume') };
  return { ...backend, park: { ...parking, maxAgeMs } };
}

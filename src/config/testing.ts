// Kinds with the keys that users know, for tests of this folder: nothing of them can be opened.
import { z } from 'zod';
import type { ClusterAccess } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import { type Backend, kind, type Provider, type Source } from '#core/provider.ts';
import { scalerFields } from '#core/scaler-config.ts';
import { count, duration, freeMap, protoEnum, script, secret } from '#core/schema.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { type KnownKinds, knownKinds } from './kinds.ts';

const text = () => z.string().optional();
const texts = () => z.array(z.string()).default([]);

async function closed(): Promise<never> {
  throw new Fault('unsupported', 'A stand-in cannot be opened.');
}

const backend = <C>(config: z.ZodType<C>, trust: 'any source' | 'operator only' = 'any source') =>
  kind<C, Backend>({ summary: 'A stand-in.', config, example: {}, trust, open: closed });

const source = <C>(config: z.ZodType<C>, place?: (config: C) => string) =>
  kind<C, Source>({
    summary: 'A stand-in.',
    config,
    example: {},
    trust: 'operator only',
    open: closed,
    ...(place && { place }),
  });

const awsTemplate = z.object({
  region: text(),
  launchTemplateName: text(),
  instanceType: text(),
  amiId: text(),
  amiName: text(),
  subnetId: text(),
  securityGroupIds: texts(),
  tags: freeMap().prefault({}),
  maxStoppedInstances: count().default(0),
});
const shared = z.object(scalerFields).partial().optional();
const details = <S extends z.ZodRawShape>(shape: S) =>
  z.array(z.object({ poolName: z.string(), description: text(), autoscalerConfig: shared, ...shape }));

export const standIns: Provider = {
  id: 'stand-ins',
  title: 'Stand-ins',
  backends: {
    aws_launch_template: backend(awsTemplate),
    gce_instance_group: backend(z.object({ project: z.string(), zone: z.string(), instanceGroup: z.string() })),
    mithril_spot_bid: backend(
      z.object({ region: z.string(), limitPrice: z.number().min(0), apiToken: secret().optional() }),
    ),
    nebius_launch_template: backend(
      z.object({
        bootDiskSizeGb: count().default(40),
        bootDiskType: protoEnum('NEBIUS_BOOT_DISK_TYPE_', ['unspecified', 'ssd', 'ssd_nrd']).prefault('unspecified'),
      }),
    ),
    command: backend(
      z.object({ start: script(), stop: script().optional(), timeout: duration().prefault('1m') }),
      'operator only',
    ),
    process: backend(z.object({ slots: count(1).optional() }), 'operator only'),
  },
  clusters: {
    gke: kind<object, ClusterAccess>({
      summary: 'A stand-in.',
      config: z.object({ project: z.string(), location: text(), clusterName: text() }),
      example: {},
      trust: 'operator only',
      open: closed,
    }),
  },
  sources: {
    aws: source(z.object({ region: text(), configPrefix: z.string(), updateInterval: duration().optional() }), (c) =>
      [c.region, c.configPrefix].filter(Boolean).join(':'),
    ),
    gcs: source(
      z.object({ bucket: z.string(), configPrefix: z.string(), updateInterval: duration().optional() }),
      (c) => `${c.bucket}:${c.configPrefix}`,
    ),
    kubernetes: source(
      z
        .object({
          namespace: text(),
          cluster: text(),
        })
        .meta({ kindsOf: 'clusters' }),
      (c) => c.namespace ?? '',
    ),
    aws_auto: source(
      z.object({ poolPrefix: text(), template: awsTemplate, instanceTypePrefixes: texts(), autoscalerConfig: shared }),
    ),
    nebius_auto: source(
      z.object({
        parentId: z.string(),
        subnetId: text(),
        usePublicIp: z.boolean().default(false),
        adminSshKey: text(),
        autoscalerConfig: shared,
        poolDetails: details({ platform: z.string(), resourcePreset: z.string() }),
      }),
    ),
    mithril_auto: source(
      z.object({
        projectId: z.string(),
        region: z.string(),
        apiToken: secret().optional(),
        sshKeyIds: texts(),
        autoscalerConfig: shared,
        maxSuspendedBids: count().default(0),
        poolDetails: details({ instanceType: z.string(), limitPrice: z.number().min(0) }),
      }),
    ),
    digitalocean_auto: source(
      z.object({
        region: z.string(),
        apiToken: secret().optional(),
        sshKeyIds: z.array(count()),
        autoscalerConfig: shared,
        poolDetails: details({ size: z.string(), image: z.string() }),
      }),
    ),
  },
};

export const standInKinds: KnownKinds = knownKinds([standIns]);

/** An environment of just these variables and secret files. */
export function testEnvironment(
  variables: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Environment {
  return readEnvironment(variables, (path) => {
    const content = files[path];
    if (content === undefined) throw new Fault('invalid', `cannot read ${path}: it does not exist`);
    return { text: content, isWorldReadable: path.includes('public') };
  });
}

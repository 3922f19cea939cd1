// The task definition of a configuration: it holds nothing of one machine and no secret of ours, so all launches share it.
import { hash } from 'node:crypto';
import type { RegisterTaskDefinitionCommandInput } from '@aws-sdk/client-ecs';
import { CLUSTER } from '../marks.ts';
import type { EcsConfig } from './config.ts';

/** A task definition without the name of its family. */
export type Definition = Omit<RegisterTaskDefinitionCommandInput, 'family' | 'tags'>;

const UNITS_OF_VCPU = 1_024;

function logOf({ logGroup }: EcsConfig, region: string) {
  if (logGroup === undefined) return {};
  const options = { 'awslogs-group': logGroup, 'awslogs-region': region, 'awslogs-stream-prefix': 'muster' };
  return { logConfiguration: { logDriver: 'awslogs' as const, options } };
}

export function definitionOf(config: EcsConfig, region: string): Definition {
  const {
    vcpus,
    memoryMib,
    architecture,
    executionRole,
    taskRole,
    containerName,
    image,
    env = {},
    stopTimeout,
  } = config;
  return {
    requiresCompatibilities: ['FARGATE'],
    networkMode: 'awsvpc',
    cpu: String(vcpus * UNITS_OF_VCPU),
    memory: String(memoryMib),
    runtimePlatform: { operatingSystemFamily: 'LINUX', cpuArchitecture: architecture === 'arm64' ? 'ARM64' : 'X86_64' },
    ...(executionRole !== undefined && { executionRoleArn: executionRole }),
    ...(taskRole !== undefined && { taskRoleArn: taskRole }),
    containerDefinitions: [
      {
        name: containerName,
        image,
        // With it the task ends: an agent that came to its end is not started again.
        essential: true,
        memory: memoryMib,
        environment: Object.entries(env).map(([name, value]) => ({ name, value })),
        // Without an init, session processes whose parent has ended have no parent that reaps them.
        linuxParameters: { initProcessEnabled: true },
        stopTimeout: Math.ceil(stopTimeout / 1_000),
        ...logOf(config, region),
      },
    ],
  };
}

// A family may have letters, digits, hyphens and underscores.
export const familyPrefix = (cluster: string): string => `muster-${cluster.replace(/[^A-Za-z0-9_-]/g, '-')}-`;

const HASH_DIGITS = 12;

/** Equal definitions have one family. */
export const familyOf = (cluster: string, definition: Definition): string =>
  `${familyPrefix(cluster)}${hash('sha256', JSON.stringify(definition)).slice(0, HASH_DIGITS)}`;

/** Whether that family was made by this program for that cluster: another cluster may have a longer name. */
export const isFamilyOf = (cluster: string, family: string): boolean =>
  family.startsWith(familyPrefix(cluster)) &&
  /^[0-9a-f]+$/.test(family.slice(familyPrefix(cluster).length)) &&
  family.length === familyPrefix(cluster).length + HASH_DIGITS;

export const definitionTags = (cluster: string) => [{ key: CLUSTER, value: cluster }];

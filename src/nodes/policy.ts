// A spec as the controller follows it: defaults applied, contradictions named.
import { HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { nearest } from '#core/nearest.ts';
import type { Problem } from '#core/problem.ts';
import { NodePoolSpec, type WrittenSpec } from './spec.ts';

export interface GroupPolicy {
  readonly name: string;
  readonly account?: string | undefined;
  readonly priority: number;
  readonly minSize: number;
  readonly maxSize: number;
  readonly pricePerHour?: number | undefined;
  readonly flexStart?: { readonly runForMs: number; readonly waitMs: number } | undefined;
  readonly template?: string | undefined;
  readonly create: boolean;
  readonly dropWhenEmpty: boolean;
}

export interface Policy {
  /** The first one is grown first. */
  readonly groups: readonly GroupPolicy[];
  readonly minPercent?: number | undefined;
  readonly maxPercent?: number | undefined;
  readonly buffer?: number | undefined;
  readonly scaleDownDelayMs: number;
  readonly minNodes: number;
  readonly maxNodes: number;
  readonly registrationMs: number;
  readonly gpuResource?: string | undefined;
  readonly rotation: { readonly leadMs: number; readonly maxConcurrent: number };
  readonly defragmentation: {
    readonly mode: 'off' | 'plan' | 'act';
    readonly maxNodesPerHour: number;
    readonly maxEvictionsPerHour: number;
    readonly maxConcurrent: number;
  };
}

const ms = (seconds: number): number => seconds * SECOND_MS;

const KNOWN_KEYS = Object.keys(NodePoolSpec.shape);

function groupsOf({ existingInstanceGroupNames = [], instanceGroups = [] }: WrittenSpec): readonly GroupPolicy[] {
  const written = [...existingInstanceGroupNames.map((name) => ({ name })), ...instanceGroups];
  return written
    .map((group: NonNullable<WrittenSpec['instanceGroups']>[number], at) => {
      const { name, account, priority = at + 1, minSize = 0, maxSize = Number.POSITIVE_INFINITY } = group;
      const { pricePerHour, flexStart, template, create = false, dropWhenEmpty = false } = group;
      const { runSeconds = 604_800, waitSeconds = 900 } = flexStart ?? {};
      return {
        name,
        account,
        priority,
        minSize,
        maxSize,
        pricePerHour,
        flexStart: flexStart && { runForMs: ms(runSeconds), waitMs: ms(waitSeconds) },
        template,
        create,
        dropWhenEmpty,
      };
    })
    .toSorted((a, b) => a.priority - b.priority);
}

function policyOf(spec: WrittenSpec): Policy {
  const { rotation = {}, defragmentation = {} } = spec;
  const { leadSeconds = (2 * HOUR_MS) / SECOND_MS, maxConcurrent = 1 } = rotation;
  return {
    groups: groupsOf(spec),
    minPercent: spec.minGPUUtilizationPercent,
    maxPercent: spec.maxGPUUtilizationPercent,
    buffer: spec.minUnutilizedGPUNodes,
    scaleDownDelayMs: ms(spec.scaleDownDelay ?? spec.scaleDownDelaySeconds ?? 600),
    minNodes: spec.minNodes ?? 0,
    maxNodes: spec.maxNodes ?? Number.POSITIVE_INFINITY,
    registrationMs: ms(spec.registrationTimeoutSeconds ?? 900),
    gpuResource: spec.gpuResource,
    rotation: { leadMs: ms(leadSeconds), maxConcurrent },
    defragmentation: {
      mode: defragmentation.mode ?? 'plan',
      maxNodesPerHour: defragmentation.maxNodesPerHour ?? 2,
      maxEvictionsPerHour: defragmentation.maxEvictionsPerHour ?? 20,
      maxConcurrent: defragmentation.maxConcurrent ?? 1,
    },
  };
}

/** What a schema cannot say. */
function contradictions(spec: WrittenSpec): readonly Problem[] {
  const found: Problem[] = [];
  const refuse = (path: string, message: string): void => void found.push({ path, message });
  const { minGPUUtilizationPercent: min, maxGPUUtilizationPercent: max, minNodes, maxNodes } = spec;
  if (min !== undefined && max !== undefined && min >= max)
    refuse('spec.minGPUUtilizationPercent', `must be below maxGPUUtilizationPercent, which is ${max}`);
  if (minNodes !== undefined && maxNodes !== undefined && minNodes > maxNodes)
    refuse('spec.minNodes', `must not be above maxNodes, which is ${maxNodes}`);
  const { scaleDownDelay: short, scaleDownDelaySeconds: long } = spec;
  if (short !== undefined && long !== undefined && short !== long)
    refuse('spec.scaleDownDelaySeconds', `says ${long} and scaleDownDelay says ${short}: keep one`);
  const groups = groupsOf(spec);
  if (groups.length === 0) refuse('spec.existingInstanceGroupNames', 'must name at least one instance group');
  const seen = new Set<string>();
  for (const { name, account = '', minSize, maxSize, create, template } of groups) {
    const id = `${account}/${name}`;
    if (seen.has(id)) refuse('spec.instanceGroups', `names the group ${name} twice`);
    seen.add(id);
    if (minSize > maxSize) refuse('spec.instanceGroups', `minSize of ${name} must not be above its maxSize`);
    if (create && template === undefined) refuse('spec.instanceGroups', `${name} needs a template to be created from`);
  }
  return found;
}

function unknownKeys(written: object): readonly Problem[] {
  return Object.keys(written)
    .filter((key) => !KNOWN_KEYS.includes(key))
    .map((key) => {
      const meant = nearest(key, KNOWN_KEYS);
      return { path: `spec.${key}`, message: `is not known${meant === undefined ? '' : `; did you mean ${meant}?`}` };
    });
}

/** The policy of an object, or everything that is wrong with it. */
export function readPolicy(written: unknown): Policy | readonly Problem[] {
  const parsed = NodePoolSpec.safeParse(written ?? {});
  if (!parsed.success) {
    return parsed.error.issues.map(({ path, message }) => ({ path: ['spec', ...path.map(String)].join('.'), message }));
  }
  const problems = [...unknownKeys((written ?? {}) as object), ...contradictions(parsed.data)];
  return problems.length > 0 ? problems : policyOf(parsed.data);
}

export const isPolicy = (read: Policy | readonly Problem[]): read is Policy => !Array.isArray(read);

// What ECS says when it does not run a task, at once or later, as faults that name the option.
import type { Failure, Task } from '@aws-sdk/client-ecs';
import { plainMessage } from '#core/answer.ts';
import { Fault, type FaultKind } from '#core/fault.ts';

interface Rule {
  readonly pattern: RegExp;
  readonly kind: FaultKind;
  readonly remedy?: string;
  readonly at?: string;
}

const PUSH = 'Push it by `muster image build docker --push HOST/NAME`, and name it as image';
const REACH =
  'Let the task reach the registry: assign_public_ip in a public subnet, or a NAT gateway or endpoints in a private one.';

// Amazon ECS Developer Guide, "API failure reasons", "Service event messages" and "Stopped tasks error messages".
const RULES: readonly Rule[] = [
  { pattern: /Capacity is unavailable/i, kind: 'exhausted', remedy: 'Wait, or name subnets in more zones.' },
  {
    pattern: /reached the limit on the number|vCPU limit/i,
    kind: 'quota',
    remedy: 'Raise the Fargate quotas in Service Quotas.',
  },
  { pattern: /^(RESOURCE|AGENT|EMPTY CAPACITY|No Container Instances)/i, kind: 'exhausted' },
  {
    pattern: /InvalidSubnetID|subnets? .*(not exist|empty)/i,
    kind: 'missing',
    at: 'subnets',
    remedy: 'Correct subnets: they belong to one region.',
  },
  {
    pattern: /InvalidGroup|security group/i,
    kind: 'missing',
    at: 'security_groups',
    remedy: 'Correct security_groups: ids of groups in the VPC of the subnets.',
  },
  {
    pattern: /ClusterNotFound/,
    kind: 'missing',
    at: 'cluster_name',
    remedy: 'Create the cluster (aws ecs create-cluster --cluster-name NAME), or correct cluster_name.',
  },
  {
    pattern: /No Fargate configuration exists/,
    kind: 'invalid',
    at: 'memory_mib',
    remedy: 'Choose memory_mib that Fargate has for this number of vcpus.',
  },
  { pattern: /to have execution role ARN/, kind: 'invalid', at: 'execution_role', remedy: 'Set execution_role.' },
  {
    pattern: /CannotPull.*(not found|manifest unknown|does not exist)/is,
    kind: 'missing',
    at: 'image',
    remedy: `${PUSH}.`,
  },
  {
    pattern: /CannotPull.*(denied|unauthori[sz]ed|forbidden|no basic auth)/is,
    kind: 'denied',
    at: 'image',
    remedy: 'Set execution_role with the right to pull the image, or use a public registry.',
  },
  {
    pattern: /CannotPull.*(platform|manifest.* match)/is,
    kind: 'invalid',
    at: 'architecture',
    remedy: 'Set architecture to that of the image.',
  },
  { pattern: /CannotPull/i, kind: 'unavailable', at: 'image', remedy: REACH },
  {
    pattern: /ResourceInitializationError.*(AccessDenied|not authorized)/is,
    kind: 'denied',
    at: 'execution_role',
    remedy: 'Give execution_role the rights that the message names.',
  },
  { pattern: /ResourceInitializationError/i, kind: 'unavailable', remedy: REACH },
  { pattern: /OutOfMemory/i, kind: 'exhausted', at: 'memory_mib', remedy: 'Raise memory_mib.' },
  {
    pattern: /Cannot(Create|Start)Container|exec format error/i,
    kind: 'invalid',
    at: 'image',
    remedy: 'Use an image whose entry point is the agent, of this architecture.',
  },
  { pattern: /Spot|TerminationNotice/, kind: 'exhausted' },
];

const ruleFor = (text: string): Rule | undefined => RULES.find(({ pattern }) => pattern.test(text));

/** A fault of a call with what ECS says in its message as kind, option and remedy. */
export function advised(thrown: unknown): Fault {
  const fault = Fault.from(thrown);
  const rule = fault.kind === 'invalid' || fault.kind === 'missing' ? ruleFor(fault.message) : undefined;
  if (!rule) return fault;
  return new Fault(rule.kind, fault.message, { cause: fault.cause, at: rule.at, remedy: rule.remedy ?? fault.remedy });
}

/** RunTask answered, and started nothing. */
export function notStarted(failure: Failure | undefined, region: string): Fault {
  const { reason = '', detail } = failure ?? {};
  if (reason === '') return new Fault('unavailable', `ECS in ${region} started no task and did not say why.`);
  const { kind = 'exhausted', at, remedy } = ruleFor(reason) ?? {};
  const message = `ECS in ${region} started no task: ${plainMessage([reason, detail].filter(Boolean).join(': '))}`;
  return new Fault(kind, message, { at, remedy });
}

/** Why a task has ended, as the fault of its launch. */
export function endOf({ stopCode, stoppedReason, containers = [] }: Task): Fault {
  const [container] = containers;
  const said = [stoppedReason ?? stopCode, container?.reason].filter(Boolean).join(': ');
  const exit = container?.exitCode === undefined ? '' : ` with exit code ${container.exitCode}`;
  const { kind = 'unavailable', at, remedy } = ruleFor(said) ?? {};
  return new Fault(kind, `The task has ended${exit}: ${plainMessage(said)}`, { at, remedy });
}

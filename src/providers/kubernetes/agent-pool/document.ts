// An AgentPool as a pool document: what its writer means, in the keys that every other source has.
import type { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import { type Problem, problemText } from '#core/problem.ts';
import type { Document } from '#core/provider.ts';
import type { KubeObject } from '#kube/object.ts';
import { AgentPoolSpec, type PodTemplate } from './spec.ts';

/** Where the pods of a source's AgentPools run: its own cluster, which no object can change. */
export type Pinned = Readonly<Record<string, unknown>>;

export const FORCE_DELETE = 'muster.io/force-delete';

/** `namespace/name`: what stands for an object in every listing. */
export const keyOfPool = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Changes with every edit of the spec, and with another object of the same name. */
export function versionOfPool({ metadata }: KubeObject): string {
  const { uid = '', generation = 0 } = metadata;
  return `${uid}.${generation}`;
}

/** Whether its writer has deleted it, and whether they wait for busy pods. */
export function deletionOf({ metadata }: KubeObject): Pick<Document, 'isDeleted' | 'isForced'> {
  if (metadata.deletionTimestamp === undefined) return {};
  return metadata.annotations?.[FORCE_DELETE] === undefined ? { isDeleted: true } : { isDeleted: true, isForced: true };
}

export const THAW = 'velda.io/thaw';

/** Whether its writer asks to thaw its pool. */
export const isThawAsked = ({ metadata }: KubeObject): boolean => metadata.annotations?.[THAW] !== undefined;

/** What its writer asks for beside the definition. */
export const requestsOf = (object: KubeObject): Pick<Document, 'isDeleted' | 'isForced' | 'isThawAsked'> => ({
  ...deletionOf(object),
  ...(isThawAsked(object) && { isThawAsked: true }),
});

function ageOf({ metadata }: KubeObject): Pick<Document, 'since'> {
  const since = Date.parse(metadata.creationTimestamp ?? '');
  return Number.isNaN(since) ? {} : { since };
}

/** The whole document of an object, or what is wrong with it. */
export function documentOf(object: KubeObject, pinned: Pinned): Document {
  const identity = { key: keyOfPool(object), version: versionOfPool(object), ...requestsOf(object), ...ageOf(object) };
  const read = AgentPoolSpec.safeParse(object.spec ?? {}, { reportInput: true });
  if (!read.success) return { ...identity, fault: faultOf(read.error.issues.flatMap(problemsOf)) };
  const problems = templateProblems(read.data);
  if (problems.length > 0) return { ...identity, fault: faultOf(problems) };
  const { text, paths } = writeDocument(object, read.data, pinned);
  return { ...identity, text, paths };
}

function faultOf(problems: readonly Problem[]): Fault {
  const [first, ...others] = problems;
  const isOne = first !== undefined && others.length === 0;
  return new Fault('invalid', isOne ? first.message : problems.map(problemText).join('; '), {
    at: isOne ? first.path : undefined,
    problems,
    remedy: 'Correct the object with kubectl edit or apply.',
  });
}

const LABEL_NEEDED = 'The template must have at least one label.';

/** What the schema of the object cannot say. */
function templateProblems({ template, templates }: AgentPoolSpec): readonly Problem[] {
  if (template && templates) return [{ path: 'spec.templates', message: 'stands beside template; keep one of them' }];
  if (!template && !templates) return [{ path: 'spec.template', message: 'is missing: it says what pods to make' }];
  const all = template
    ? ([['spec.template', template]] as const)
    : (templates ?? []).map((each, at) => [`spec.templates[${at}]`, each] as const);
  return all.flatMap(([path, { metadata, spec }]) => {
    const containers = (spec as { containers?: unknown } | undefined)?.containers;
    const problems: Problem[] = [];
    if (Object.keys(metadata?.labels ?? {}).length === 0) {
      problems.push({ path: `${path}.metadata.labels`, message: LABEL_NEEDED });
    }
    if (!Array.isArray(containers) || containers.length === 0) {
      problems.push({ path: `${path}.spec.containers`, message: 'must have the container of the agent' });
    }
    return problems;
  });
}

const seconds = (count: number): string => `${count}s`;

/** Where each key of the document stands in the object. */
export const PATHS: Readonly<Record<string, string>> = {
  name: 'metadata.name',
  description: 'spec.description',
  update_policy: 'spec.updatePolicy',
  drain_timeout: 'spec.drainTimeoutSeconds',
  boot_timeout: 'spec.bootTimeoutSeconds',
  agent_auth: 'spec.agentAuth',
  agent_networks: 'spec.agentNetworks',
  auto_scaler: 'spec.autoscaler',
  'auto_scaler.min_agents': 'spec.autoscaler.minReplicas',
  'auto_scaler.max_agents': 'spec.autoscaler.maxReplicas',
  'auto_scaler.min_idle_agents': 'spec.autoscaler.minIdle',
  'auto_scaler.max_idle_agents': 'spec.autoscaler.maxIdle',
  'auto_scaler.idle_decay': 'spec.autoscaler.idleDecaySecond',
  'auto_scaler.kill_unknown_after': 'spec.autoscaler.killUnknownAfterSecond',
  'auto_scaler.default_slots_per_agent': 'spec.autoscaler.defaultSlotsPerAgent',
  'auto_scaler.schedules': 'spec.autoscaler.schedules',
  'auto_scaler.wait_target': 'spec.autoscaler.waitTarget',
  'auto_scaler.wait_target.p95': 'spec.autoscaler.waitTarget.p95Seconds',
  'auto_scaler.wait_target.max_idle_agents': 'spec.autoscaler.waitTarget.maxIdle',
  'auto_scaler.backend': 'spec.template',
  'auto_scaler.backend.kubernetes.template': 'spec.template',
  'auto_scaler.backend.kubernetes.scheduling_timeout': 'spec.schedulingTimeoutSeconds',
  'auto_scaler.backends': 'spec.templates',
};

// By the key of the document.
const WINDOW_LIMITS = {
  min_agents: 'minReplicas',
  max_agents: 'maxReplicas',
  min_idle_agents: 'minIdle',
  max_idle_agents: 'maxIdle',
} as const;
type WindowLimit = keyof typeof WINDOW_LIMITS;

/** Windows and wait target in the keys of a document. */
function windowsOf(autoscaler: AgentPoolSpec['autoscaler']): object {
  const { schedules, waitTarget } = autoscaler ?? {};
  return {
    schedules: schedules?.map(({ name, days, from, to, timezone, ...limits }) => {
      const keys = Object.keys(WINDOW_LIMITS) as WindowLimit[];
      const stated = keys.map((key) => [key, limits[WINDOW_LIMITS[key]]]);
      return { name, days, from, to, timezone, ...Object.fromEntries(stated) };
    }),
    wait_target: waitTarget && { p95: seconds(waitTarget.p95Seconds), max_idle_agents: waitTarget.maxIdle },
  };
}

const windowPaths = (autoscaler: AgentPoolSpec['autoscaler']): [string, string][] =>
  (autoscaler?.schedules ?? []).flatMap((_, at) =>
    Object.entries(WINDOW_LIMITS).map(([key, there]): [string, string] => [
      `auto_scaler.schedules[${at}].${key}`,
      `spec.autoscaler.schedules[${at}].${there}`,
    ]),
  );

function writeDocument(
  { metadata }: KubeObject,
  spec: AgentPoolSpec,
  pinned: Pinned,
): { readonly text: string; readonly paths: Readonly<Record<string, string>> } {
  const { autoscaler, template, templates = [] } = spec;
  const backend = (pod: PodTemplate): object => ({
    kubernetes: {
      ...pinned,
      namespace: metadata.namespace,
      template: pod,
      scheduling_timeout: seconds(spec.schedulingTimeoutSeconds),
      // An agent that proves itself otherwise has no use for a token, and everyone who may read pods could read it.
      pass_token: spec.agentAuth === 'token',
    },
  });
  const offers = templates.map(({ pricePerHour, maxReplicas, ...pod }) => ({
    ...backend(pod),
    ...(pricePerHour === undefined ? {} : { price_per_hour: pricePerHour }),
    ...(maxReplicas === undefined ? {} : { max_agents: maxReplicas }),
  }));
  const document = {
    name: metadata.name,
    description: spec.description,
    update_policy: spec.updatePolicy,
    drain_timeout: seconds(spec.drainTimeoutSeconds),
    boot_timeout: seconds(spec.bootTimeoutSeconds),
    agent_auth: spec.agentAuth,
    agent_networks: spec.agentNetworks,
    auto_scaler: {
      min_agents: autoscaler?.minReplicas ?? 0,
      max_agents: autoscaler?.maxReplicas ?? 0,
      min_idle_agents: autoscaler?.minIdle ?? 0,
      max_idle_agents: autoscaler?.maxIdle ?? 0,
      idle_decay: seconds(autoscaler?.idleDecaySecond ?? 60),
      kill_unknown_after: seconds(autoscaler?.killUnknownAfterSecond ?? 300),
      default_slots_per_agent: autoscaler?.defaultSlotsPerAgent ?? 1,
      ...windowsOf(autoscaler),
      ...(template ? { backend: backend(template) } : { backends: offers }),
    },
  };
  const places = templates.map((_, at) => [
    [`auto_scaler.backends[${at}]`, `spec.templates[${at}]`],
    [`auto_scaler.backends[${at}].kubernetes.template`, `spec.templates[${at}]`],
    [`auto_scaler.backends[${at}].max_agents`, `spec.templates[${at}].maxReplicas`],
    [`auto_scaler.backends[${at}].price_per_hour`, `spec.templates[${at}].pricePerHour`],
  ]);
  const paths = { ...PATHS, ...Object.fromEntries([...places.flat(), ...windowPaths(autoscaler)]) };
  return { text: JSON.stringify(document), paths };
}

/** One line for each thing that is wrong, with the path in the object and the key that was meant. */
function problemsOf(issue: z.core.$ZodIssue): readonly Problem[] {
  const at = issue.path.reduce<string>((path, key) => {
    return typeof key === 'number' ? `${path}[${key}]` : `${path}.${String(key)}`;
  }, 'spec');
  if (issue.code !== 'unrecognized_keys') return [{ path: at, message: messageOf(issue) }];
  return issue.keys.map((key) => {
    const meant = nearest(key, knownKeys(at));
    return { path: `${at}.${key}`, message: `is not a known key${meant ? `; did you mean ${meant}?` : ''}` };
  });
}

function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is missing'
        : `must be a ${issue.expected === 'int' ? 'whole number' : issue.expected}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    default:
      return issue.message;
  }
}

/** The keys that may stand at a path where unknown ones are refused. */
function knownKeys(path: string): readonly string[] {
  const { shape } = AgentPoolSpec;
  const autoscaler = shape.autoscaler.unwrap().shape;
  if (path === 'spec.autoscaler') return Object.keys(autoscaler);
  if (path === 'spec.autoscaler.waitTarget') return Object.keys(autoscaler.waitTarget.unwrap().shape);
  const isWindow = path.startsWith('spec.autoscaler.schedules[');
  return Object.keys(isWindow ? autoscaler.schedules.unwrap().element.shape : shape);
}

import { hash } from 'node:crypto';
import { follow, nextStepMs, type Step, stepAt } from '#fakes/timeline.ts';

type State = 'RECONCILING' | 'READY' | 'FAILED' | 'DELETING' | 'GONE';

/** Why a service does not come up. */
export interface FakeFailure {
  /** Of google.rpc. */
  readonly code: number;
  /** Of the condition of the service, or of its revision. */
  readonly reason?: string;
  readonly revisionReason?: string;
  /** What follows `Revision '…' is not ready and cannot serve traffic.` */
  readonly message: string;
}

export interface FakeContainer {
  readonly name?: string;
  readonly image?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name?: string; readonly value?: string }[];
  readonly ports?: readonly { readonly containerPort?: number }[];
  readonly resources?: { readonly limits?: Readonly<Record<string, string>>; readonly cpuIdle?: boolean };
  readonly startupProbe?: Readonly<Record<string, unknown>>;
}

/** A service as its maker wrote it. */
export interface WantedService {
  readonly labels?: Readonly<Record<string, string>>;
  readonly ingress?: string;
  readonly invokerIamDisabled?: boolean;
  readonly template?: {
    readonly containers?: readonly FakeContainer[];
    readonly scaling?: { readonly minInstanceCount?: number; readonly maxInstanceCount?: number };
    readonly serviceAccount?: string;
    readonly executionEnvironment?: string;
  };
}

/** A service as Cloud Run keeps it, with its one revision. */
export interface FakeService {
  readonly uid: string;
  readonly project: string;
  readonly region: string;
  /** The last part of its name. */
  readonly id: string;
  readonly wanted: WantedService;
  readonly madeAtMs: number;
  readonly failure: FakeFailure | undefined;
  deletedAtMs: number | undefined;
  timeline: readonly Step<State>[];
  /** Its container ends as soon as it is started. */
  isEnding: boolean;
  /** How many containers there have been, one after another. */
  containers: number;
}

export const stateAt = ({ timeline }: FakeService, nowMs: number): State =>
  stepAt(timeline, nowMs)?.state ?? 'RECONCILING';

export const isGone = (service: FakeService, nowMs: number): boolean => stateAt(service, nowMs) === 'GONE';

/** Whether it exists and has not begun to go. */
export const isLiving = (service: FakeService, nowMs: number): boolean =>
  ['RECONCILING', 'READY', 'FAILED'].includes(stateAt(service, nowMs));

export const nextChangeMs = ({ timeline }: FakeService, nowMs: number): number | undefined =>
  nextStepMs(timeline, nowMs);

export function change(service: FakeService, steps: readonly [Step<State>, ...Step<State>[]]): void {
  service.timeline = follow(service.timeline, steps);
}

export const nameOf = ({ project, region, id }: FakeService): string =>
  `projects/${project}/locations/${region}/services/${id}`;

export const revisionOf = (service: FakeService): string =>
  `${nameOf(service)}/revisions/${service.id}-00001-${service.uid.slice(0, 3)}`;

export const hostOf = ({ id, uid }: FakeService): string => `${id}-${uid.slice(0, 10)}-uc.a.run.app`;

export const containerIn = ({ wanted }: FakeService): FakeContainer => wanted.template?.containers?.[0] ?? {};

export const variableIn = (service: FakeService, name: string): string =>
  containerIn(service).env?.find((one) => one.name === name)?.value ?? '';

const iso = (ms: number): string => new Date(ms).toISOString();

/** Another for each state that it is in. */
export const etagOf = (service: FakeService, nowMs: number): string =>
  `"${hash('sha256', `${service.uid} ${stateAt(service, nowMs)}`, 'base64').slice(0, 12)}"`;

export function failureText(service: FakeService): string {
  const revision = revisionOf(service).split('/').at(-1);
  return `Revision '${revision}' is not ready and cannot serve traffic. ${service.failure?.message ?? ''}`;
}

function conditionsOf(service: FakeService, nowMs: number): Readonly<Record<string, unknown>> {
  const state = stateAt(service, nowMs);
  const { reason, revisionReason } = service.failure ?? {};
  const failed = {
    message: failureText(service),
    ...(reason && { reason }),
    ...(revisionReason && { revisionReason }),
  };
  const ofState = {
    READY: { state: 'CONDITION_SUCCEEDED' },
    FAILED: { state: 'CONDITION_FAILED', severity: 'ERROR', ...failed },
  };
  const shown = state === 'READY' || state === 'FAILED' ? ofState[state] : { state: 'CONDITION_RECONCILING' };
  const lastTransitionTime = iso(stepAt(service.timeline, nowMs)?.atMs ?? service.madeAtMs);
  return {
    terminalCondition: { type: 'Ready', lastTransitionTime, ...shown },
    conditions: ['RoutesReady', 'ConfigurationsReady'].map((type) => ({ type, lastTransitionTime, ...shown })),
  };
}

/** As the API shows it. */
export function shown(service: FakeService, nowMs: number): Readonly<Record<string, unknown>> {
  const { uid, wanted, madeAtMs, deletedAtMs } = service;
  const state = stateAt(service, nowMs);
  const uri = `https://${hostOf(service)}`;
  return {
    name: nameOf(service),
    uid,
    generation: '1',
    createTime: iso(madeAtMs),
    updateTime: iso(deletedAtMs ?? madeAtMs),
    ...(deletedAtMs !== undefined && { deleteTime: iso(deletedAtMs) }),
    launchStage: 'GA',
    ...wanted,
    ...conditionsOf(service, nowMs),
    latestCreatedRevision: revisionOf(service),
    ...(state === 'READY' && { observedGeneration: '1', latestReadyRevision: revisionOf(service), uri, urls: [uri] }),
    ...((state === 'RECONCILING' || state === 'DELETING') && { reconciling: true }),
    etag: etagOf(service, nowMs),
  };
}

/** Its revision; it goes with its service. */
export function shownRevision(service: FakeService, nowMs: number): Readonly<Record<string, unknown>> {
  const { wanted, madeAtMs, id } = service;
  return {
    ...{ name: revisionOf(service), service: id, createTime: iso(madeAtMs), generation: '1' },
    ...wanted.template,
    conditions: conditionsOf(service, nowMs).conditions,
  };
}

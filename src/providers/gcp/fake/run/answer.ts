// Version 2 of the Cloud Run Admin API, as far as the provider and Google's own client use it here.
import { randomUUID } from 'node:crypto';
import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import { PROJECT, REGIONS } from '../compute/seed-data.ts';
import type { GcpCall } from '../read-call.ts';
import { partOf } from '../storage/partial-answer.ts';
import { checkService } from './check-service.ts';
import {
  etagOf,
  type FakeService,
  failureText,
  isGone,
  nameOf,
  revisionOf,
  shown,
  shownRevision,
  stateAt,
  type WantedService,
} from './service.ts';
import { endService, type FakeRunOperation, makeService, type RunState } from './state.ts';

type Body = Readonly<Record<string, unknown>>;

/** A call with what its path names. */
interface Question {
  readonly call: GcpCall;
  readonly state: RunState;
  readonly nowMs: number;
  readonly project: string;
  readonly region: string;
  /** Service, operation, revision: what follows the collection. */
  readonly subject: string;
}

const PATH = /^\/v2\/projects\/([^/]+)\/locations\/([^/]+)\/(?:services|operations)(?:\/([^/:]+))?/;
const LARGEST_PAGE = 1_000;
const TOKEN_LIFE_MS = 3_600_000;
const ABORTED = 10;
const SERVICE_TYPE = 'type.googleapis.com/google.cloud.run.v2.Service';

const notFound = (what: string): Error => refusal('NOT_FOUND', `Resource '${what}' was not found`, 404);

function questionOf(call: GcpCall, state: RunState): Question {
  const [, project = '', region = '', subject = ''] = PATH.exec(call.path) ?? [];
  if (project !== PROJECT) throw refusal('PERMISSION_DENIED', `Permission denied on resource project ${project}.`, 403);
  if (!REGIONS.includes(region))
    throw refusal('INVALID_ARGUMENT', `Location ${region} is not found or access is unauthorized.`, 400);
  return { call, state, nowMs: state.clock.now(), project, region, subject };
}

function serviceOf({ state, nowMs, project, region, subject }: Question): FakeService {
  const found = state.services.find(
    (one) => one.project === project && one.region === region && one.id === subject && !isGone(one, nowMs),
  );
  if (!found) throw notFound(subject);
  return found;
}

/** When it is over, and how it ended. */
function endOf({ service, what }: FakeRunOperation, nowMs: number): { isDone: boolean; error?: object } {
  const state = stateAt(service, nowMs);
  if (what === 'delete') return { isDone: state === 'GONE' };
  if (state === 'RECONCILING') return { isDone: false };
  if (state === 'READY') return { isDone: true };
  if (service.failure && state === 'FAILED')
    return { isDone: true, error: { code: service.failure.code, message: failureText(service) } };
  return { isDone: true, error: { code: ABORTED, message: 'The service was deleted while it was created.' } };
}

function shownOperation(operation: FakeRunOperation, nowMs: number): Body {
  const { isDone, error } = endOf(operation, nowMs);
  const service = { '@type': SERVICE_TYPE, ...shown(operation.service, nowMs) };
  return {
    name: operation.name,
    metadata: service,
    ...(isDone && { done: true, ...(error ? { error } : { response: service }) }),
  };
}

function begin({ state, project, region, nowMs }: Question, service: FakeService, what: FakeRunOperation['what']) {
  const name = `projects/${project}/locations/${region}/operations/${randomUUID()}`;
  const operation = { name, service, what };
  state.operations.set(name, operation);
  return shownOperation(operation, nowMs);
}

function create(question: Question): Body {
  const { call, state, nowMs, project, region } = question;
  const { serviceId: id = '' } = call.query;
  const place = { project, region, id };
  const wanted = call.body as WantedService;
  checkService(state, place, wanted);
  const isTaken = state.services.some(
    (one) => one.project === project && one.region === region && one.id === id && !isGone(one, nowMs),
  );
  if (isTaken) throw refusal('ALREADY_EXISTS', `Resource '${id}' already exists.`, 409);
  return begin(question, makeService(state, place, wanted), 'create');
}

function remove(question: Question): Body {
  const { call, state, nowMs } = question;
  const service = serviceOf(question);
  const { etag } = call.query;
  if (etag !== undefined && etag !== etagOf(service, nowMs)) {
    const message = `Conflict for resource '${service.id}': version '${etag}' was specified but current version is '${etagOf(service, nowMs)}'.`;
    throw refusal('ABORTED', message, 409);
  }
  endService(state, service);
  return begin(question, service, 'delete');
}

function paged(question: Question, key: string, all: readonly Body[]): Body {
  const { call, state, nowMs } = question;
  const { pageSize, pageToken: token } = call.query;
  const asked = Number(pageSize ?? 0) || LARGEST_PAGE;
  const size = Math.min(asked, LARGEST_PAGE, state.behaviour.pageSize);
  const page = { of: call.path, token, size, nowMs, emptyPages: 0, tokenLifeMs: TOKEN_LIFE_MS };
  const cursor = cursorOf(page);
  if (!cursor) throw refusal('INVALID_ARGUMENT', 'The page token is invalid.', 400);
  const keyOf = ({ name }: Body): string => String(name);
  const sorted = all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const { items, token: nextPageToken } = pageOf(page, cursor, inOrder(sorted, keyOf));
  return { ...(items.length > 0 && { [key]: items }), ...(nextPageToken !== undefined && { nextPageToken }) };
}

function list(question: Question): Body {
  const { state, nowMs, project, region } = question;
  const { lagMs } = state.behaviour;
  const here = state.services.filter(
    (one) => one.project === project && one.region === region && !isGone(one, nowMs) && nowMs - one.madeAtMs >= lagMs,
  );
  return paged(
    question,
    'services',
    here.map((one) => shown(one, nowMs)),
  );
}

function operationAt({ state, project, region, subject }: Question): FakeRunOperation {
  const found = state.operations.get(`projects/${project}/locations/${region}/operations/${subject}`);
  if (!found) throw notFound(subject);
  return found;
}

const WAIT_MS = 100;

/** Answers once it is done. */
async function wait(question: Question, signal: AbortSignal): Promise<Body> {
  const { clock } = question.state;
  const operation = operationAt(question);
  while (!endOf(operation, clock.now()).isDone && !signal.aborted) await clock.sleep(WAIT_MS, signal);
  return shownOperation(operation, clock.now());
}

const ACTIONS: Readonly<Record<string, (question: Question, signal: AbortSignal) => Body | Promise<Body>>> = {
  'services.create': create,
  'services.delete': remove,
  'services.get': (question) => shown(serviceOf(question), question.nowMs),
  'services.list': list,
  'services.revisions.list': (question) =>
    paged(question, 'revisions', [shownRevision(serviceOf(question), question.nowMs)]),
  'services.revisions.get': (question) => {
    const service = serviceOf(question);
    if (!question.call.path.endsWith(`/${revisionOf(service)}`)) throw notFound(question.call.path);
    return shownRevision(service, question.nowMs);
  },
  'operations.get': (question) => shownOperation(operationAt(question), question.nowMs),
  'operations.wait': wait,
};

export async function answerRun(call: GcpCall, state: RunState, signal: AbortSignal): Promise<Response> {
  const act = ACTIONS[call.action.replace('run.', '')];
  if (!act) throw notFound(call.path);
  const body = await act(questionOf(call, state), signal);
  const { fields } = call.query;
  return Response.json(fields === undefined ? body : partOf(body, fields));
}

const RIGHTS: Readonly<Record<string, string>> = {
  'run.services.revisions.list': 'run.revisions.list',
  'run.services.revisions.get': 'run.revisions.get',
  'run.operations.wait': 'run.operations.get',
};

/** All that a call needs: cloud.google.com/run/docs/reference/iam/permissions. */
export function rightsFor({ action, body }: GcpCall): readonly string[] {
  const right = RIGHTS[action] ?? action;
  return action === 'run.services.create' && body.invokerIamDisabled ? [right, 'run.services.setIamPolicy'] : [right];
}

/** The service that a call names, by its uid. */
export function servicesNamed({ services }: RunState, { path, query }: GcpCall): string[] {
  const id = query.serviceId ?? /\/services\/([^/]+)/.exec(path)?.[1];
  return services.flatMap((one) =>
    one.id === id && path.startsWith(`/v2/${nameOf(one).split('/services/')[0]}/`) ? one.uid : [],
  );
}

import type { Clock } from '#core/clock.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { grant, impersonate } from './grants.ts';
import { type GcpCall, readCall } from './read-call.ts';
import { answerStorage, openStorage } from './storage/answer.ts';
import { openGranted } from './tokens.ts';
import type { World } from './world.ts';

/** A fake Google Cloud: its clusters, its buckets, and all who give tokens. */
export interface FakeGcp extends Answering<GcpCall, RecordedCall> {
  readonly world: World;
  /** How many tokens were asked for, anywhere. */
  asked(): number;
}

const GIVING = ['oauth2.token', 'sts.token', 'metadata.token', 'iamcredentials.generateAccessToken'];

const projectIn = (path: string): string => path.split('/')[3] ?? '';

function container({ path, action: right }: GcpCall, { clusters, denied, withoutApi }: World): object {
  const project = projectIn(path);
  if (withoutApi.has(project))
    throw refusal('SERVICE_DISABLED', `Kubernetes Engine API has not been used in project ${project} before.`, 403);
  if (denied.has(right))
    throw refusal('PERMISSION_DENIED', `Required "${right}" permission(s) for "${path.slice(4)}".`, 403);
  if (right === 'container.clusters.list')
    return { clusters: [...clusters].flatMap(([name, one]) => (name.split('/')[1] === project ? [one] : [])) };
  const found = clusters.get(path.replace('/v1/', ''));
  if (found) return found;
  throw refusal('NOT_FOUND', `Not found: ${path.replace('/v1/', '')}.`, 404);
}

/** Another system, which tells a workload who it is. */
function workloadToken({ headers }: GcpCall, { subjectTokens }: World): object {
  const [token] = subjectTokens.keys();
  if (headers.get('x-who-asks') !== 'muster') throw refusal('forbidden', 'A header is missing.', 403);
  return { id_token: token };
}

/** Cloud Storage asks for the right before it looks for the bucket. */
function storage(call: GcpCall, who: string | undefined, world: World): Response {
  const { action: right } = call;
  const caller = who ?? 'Anonymous caller';
  const denial = `${caller} does not have ${right} access to the Google Cloud Storage bucket. Permission '${right}' denied on resource (or it may not exist).`;
  if (who === undefined && !world.storage.isOpen) throw refusal('required', denial, 401);
  if (world.denied.has(right)) throw refusal('forbidden', denial, 403);
  return answerStorage(call, world);
}

function answer(call: GcpCall, world: World): object {
  if (call.service === 'workload') return workloadToken(call, world);
  if (call.action.endsWith('.unknown')) throw refusal('NOT_FOUND', `There is no ${call.path}.`, 404);
  if (['oauth2', 'sts', 'metadata'].includes(call.service)) return grant(call, world);
  const who = world.granted.whose(call.headers.get('authorization')?.replace(/^Bearer /, ''));
  if (call.service === 'storage') return storage(call, who, world);
  if (who === undefined) throw refusal('UNAUTHENTICATED', 'Request had invalid authentication credentials.', 401);
  return call.service === 'container' ? container(call, world) : impersonate(call, who, world);
}

/** Each service in its own form of errors. */
function refuse({ service }: GcpCall, { code, message, status }: Refusal): Response {
  if (service === 'metadata') return new Response(message, { status });
  if (service === 'oauth2' || service === 'sts')
    return Response.json({ error: code, error_description: message }, { status });
  if (service === 'storage') {
    const errors = [{ message, domain: 'global', reason: code }];
    return Response.json({ error: { code: status, message, errors } }, { status });
  }
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code }];
  return Response.json({ error: { code: status, message, status: code, details } }, { status });
}

export function openFakeGcp(clock: Clock): FakeGcp {
  const world: World = {
    clock,
    granted: openGranted(clock),
    clusters: new Map(),
    storage: openStorage(),
    denied: new Set(),
    withoutApi: new Set(),
    accountKeys: new Map(),
    refreshTokens: new Map(),
    subjectTokens: new Map(),
    mayActAs: new Map(),
    machineAccount: undefined,
  };
  const answering = openAnswering<GcpCall, RecordedCall>(
    {
      read: readCall,
      record: ({ service, action, region }, atMs) => ({ service, action, region, atMs, outcome: 'open' }),
      answer(call) {
        const found = answer(call, world);
        return found instanceof Response ? found : Response.json(found);
      },
      refuse,
      tooMuch: ({ service }) =>
        service === 'storage'
          ? refusal('rateLimitExceeded', 'The rate of requests exceeds the limit of the bucket.', 429)
          : refusal('RATE_LIMIT_EXCEEDED', 'Quota exceeded for quota metric.', 429),
    },
    clock,
  );
  return { ...answering, world, asked: () => GIVING.reduce((sum, action) => sum + answering.countOf(action), 0) };
}

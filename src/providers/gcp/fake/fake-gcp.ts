import type { Clock } from '#core/clock.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { openBuckets } from '#fakes/limits.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { checkCall } from './check-call.ts';
import { answerCompute, rightFor } from './compute/answer.ts';
import { instancesNamed } from './compute/instance.ts';
import { openCompute } from './compute/state.ts';
import { answerContainer } from './container.ts';
import { grant, impersonate } from './grants.ts';
import { type GcpCall, readCall } from './read-call.ts';
import { answerRun, rightsFor, servicesNamed } from './run/answer.ts';
import { openRun } from './run/state.ts';
import { answerStorage, openStorage } from './storage/answer.ts';
import { openGranted } from './tokens.ts';
import type { World } from './world.ts';

/** What tests may read of a call. */
interface GcpRecord extends RecordedCall, Pick<GcpCall, 'path' | 'query' | 'body'> {
  /** The ids of the instances or services that it names. */
  readonly about: readonly string[];
}

/** A fake Google Cloud: its clusters, its buckets, its machines, and all who give tokens. */
export interface FakeGcp extends Answering<GcpCall, GcpRecord> {
  readonly world: World;
  /** How many tokens were asked for, anywhere. */
  asked(): number;
}

const GIVING = ['oauth2.token', 'sts.token', 'metadata.token', 'iamcredentials.generateAccessToken'];

/** Another system, which tells a workload who it is. */
function workloadToken({ headers }: GcpCall, { subjectTokens }: World): object {
  const [token] = subjectTokens.keys();
  if (headers.get('x-who-asks') !== 'muster') throw refusal('forbidden', 'A header is missing.', 403);
  return { id_token: token };
}

const EXPECTED =
  'Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.';

/** Compute Engine names the reason in the form of old. */
function unauthenticated({ headers, service }: GcpCall): Error {
  const isMissing = !headers.has('authorization');
  const why = isMissing
    ? 'Request is missing required authentication credential.'
    : 'Request had invalid authentication credentials.';
  const reason = isMissing ? 'required' : 'authError';
  return refusal(service === 'compute' ? reason : 'UNAUTHENTICATED', `${why} ${EXPECTED}`, 401);
}

/** Cloud Storage asks for the right before it looks for the bucket. */
function storage(call: GcpCall, who: string | undefined, world: World): Response {
  const { action: right } = call;
  const caller = who ?? 'Anonymous caller';
  const denial = `${caller} does not have ${right} access to the Google Cloud Storage bucket. Permission '${right}' denied on resource (or it may not exist).`;
  if (who === undefined && !world.storage.isOpen) {
    const isMissing = !call.headers.has('authorization');
    throw isMissing ? refusal('required', denial, 401) : refusal('authError', 'Invalid Credentials', 401);
  }
  checkCall(call);
  if (world.denied.has(right)) throw refusal('forbidden', denial, 403);
  return answerStorage(call, world);
}

/** Compute Engine asks for the right before it looks for anything. */
function compute(call: GcpCall, world: World, signal: AbortSignal): Promise<Response> {
  checkCall(call);
  const right = rightFor(call.action, call.path);
  if (world.denied.has(right)) throw refusal('forbidden', `Required '${right}' permission for '${call.path}'`, 403);
  return answerCompute(call, world.compute, signal);
}

/** Cloud Run too. */
function run(call: GcpCall, world: World, signal: AbortSignal): Promise<Response> {
  checkCall(call);
  const missing = rightsFor(call).find((right) => world.denied.has(right));
  if (missing === undefined) return answerRun(call, world.run, signal);
  const resource = call.path.replace('/v2/', '');
  const message = `Permission '${missing}' denied on resource '${resource}' (or resource may not exist).`;
  throw refusal('PERMISSION_DENIED', message, 403);
}

function answer(call: GcpCall, world: World, signal: AbortSignal): object | Promise<object> {
  if (call.service === 'workload') return workloadToken(call, world);
  if (call.action.endsWith('.unknown')) throw refusal('NOT_FOUND', `There is no ${call.path}.`, 404);
  if (['oauth2', 'sts', 'metadata'].includes(call.service)) return grant(call, world);
  const who = world.granted.whose(call.headers.get('authorization')?.replace(/^Bearer /, ''));
  if (call.service === 'storage') return storage(call, who, world);
  const asksNobody = world.storage.isOpen && (call.service === 'compute' || call.service === 'run');
  if (who === undefined && !asksNobody) throw unauthenticated(call);
  if (call.service === 'compute') return compute(call, world, signal);
  if (call.service === 'run') return run(call, world, signal);
  checkCall(call);
  return call.service === 'container' ? answerContainer(call, world) : impersonate(call, who ?? '', world);
}

/** As the older services call what the newer ones call INVALID_ARGUMENT. */
const OF_CHECKS = new Set(['badRequest', 'required', 'invalid']);

/** Each service in its own form of errors. */
function refuse({ service }: GcpCall, { code, message, status }: Refusal): Response {
  if (service === 'metadata') return new Response(message, { status });
  if (service === 'oauth2' || service === 'sts')
    return Response.json({ error: code, error_description: message }, { status });
  if (service === 'storage' || service === 'compute') {
    const errors = [{ message, domain: 'global', reason: code }];
    return Response.json({ error: { code: status, message, errors } }, { status });
  }
  const reason = OF_CHECKS.has(code) ? 'INVALID_ARGUMENT' : code;
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }];
  return Response.json({ error: { code: status, message, status: reason, details } }, { status });
}

/** Compute Engine answers 403 to what others answer 429. */
function tooMuch({ service }: GcpCall): Error {
  if (service === 'storage')
    return refusal('rateLimitExceeded', 'The rate of requests exceeds the limit of the bucket.', 429);
  if (service === 'compute')
    return refusal(
      'rateLimitExceeded',
      "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute'.",
      403,
    );
  return refusal('RATE_LIMIT_EXCEEDED', 'Quota exceeded for quota metric.', 429);
}

export function openFakeGcp(clock: Clock): FakeGcp {
  const world: World = {
    clock,
    granted: openGranted(clock),
    clusters: new Map(),
    pools: new Map(),
    containerOperations: new Map(),
    storage: openStorage(),
    compute: openCompute(clock),
    run: openRun(clock),
    denied: new Set(),
    withoutApi: new Set(),
    accountKeys: new Map(),
    refreshTokens: new Map(),
    subjectTokens: new Map(),
    mayActAs: new Map(),
    machineAccount: undefined,
  };
  const take = openBuckets<GcpCall>({
    limits: () => (call) => (call.service === 'run' ? world.run : world.compute).limits(call),
    tooMuch,
  });
  const answering = openAnswering<GcpCall, GcpRecord>(
    {
      read: readCall,
      record: (call, atMs) => {
        const { service, action, region, path, query, body } = call;
        const isOfMachines = service === 'compute' || service === 'run';
        const about =
          service === 'compute' ? instancesNamed(world.compute, path, body) : servicesNamed(world.run, call);
        return { service, action, region, path, query, body: isOfMachines ? body : {}, about, atMs, outcome: 'open' };
      },
      async answer(call, signal) {
        take(call, clock.now());
        const found = await answer(call, world, signal);
        return found instanceof Response ? found : Response.json(found);
      },
      refuse,
      tooMuch,
    },
    clock,
  );
  return { ...answering, world, asked: () => GIVING.reduce((sum, action) => sum + answering.countOf(action), 0) };
}

import type { Clock } from '#core/clock.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { answerAppConfiguration } from './app-configuration/answer.ts';
import { askClusters } from './clusters.ts';
import { type AzureCall, readCall } from './read-call.ts';
import { giveToken } from './tokens.ts';
import { type World, whose } from './world.ts';

/** A fake Azure: one subscription with its clusters, the stores of App Configuration, and those who give tokens. */
export interface FakeAzure extends Answering<AzureCall, RecordedCall> {
  readonly world: World;
}

const MANAGEMENT = 'https://management.azure.com';
const SUBSCRIPTION = '00000000-0000-0000-0000-000000000001';

function answer(call: AzureCall, world: World): object {
  if (call.action.endsWith('.unknown')) throw refusal('NotFound', `There is no ${call.path}.`, 404);
  if (call.service === 'appConfiguration') return answerAppConfiguration(call, world);
  if (call.service !== 'management') return giveToken(call, world);
  const token = call.headers.get('authorization')?.replace(/^Bearer /, '') ?? '';
  if (whose(world, token, MANAGEMENT) === undefined)
    throw refusal('InvalidAuthenticationToken', 'The access token is invalid.', 401);
  return askClusters(call, world);
}

/** Each service in its own form of errors. */
function refuse({ service }: AzureCall, { code, message, status }: Refusal): Response {
  if (service === 'appConfiguration') {
    const body = { type: `https://azconfig.io/errors/${status}`, title: code, detail: message, status };
    const headers = { 'content-type': 'application/problem+json', ...(status === 429 && { 'retry-after-ms': '1500' }) };
    return new Response(JSON.stringify(body), { status, headers });
  }
  const headers = status === 429 ? { 'retry-after': '1' } : {};
  const body = service === 'management' ? { error: { code, message } } : { error: code, error_description: message };
  return Response.json(body, { status, headers });
}

export function openFakeAzure(clock: Clock): FakeAzure {
  const world: World = {
    clock,
    subscriptionId: SUBSCRIPTION,
    clusters: [],
    stores: new Map(),
    isOpen: false,
    proofs: new Map(),
    machineIdentities: [],
    granted: new Map(),
    denied: new Set(),
    largestPage: 50,
    serial: 0,
  };
  const answering = openAnswering<AzureCall, RecordedCall>(
    {
      read: readCall,
      record: ({ service, action, region }, atMs) => ({ service, action, region, atMs, outcome: 'open' }),
      answer(call) {
        const found = answer(call, world);
        return found instanceof Response ? found : Response.json(found);
      },
      refuse,
      tooMuch: ({ service }) =>
        service === 'appConfiguration'
          ? refusal('Resource utilization has surpassed the assigned quota', 'Policy: Total Requests.', 429)
          : refusal('TooManyRequests', 'The request is being throttled.', 429),
    },
    clock,
  );
  return { ...answering, world };
}

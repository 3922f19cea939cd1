import type { Clock } from '#core/clock.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { type Limits, noLimits, openBuckets } from '#fakes/limits.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { answerAppConfiguration } from './app-configuration/answer.ts';
import { checkCall } from './check-call.ts';
import { askClusters } from './clusters.ts';
import { answerCompute } from './compute/answer.ts';
import { type ComputeOptions, openCompute } from './compute/compute.ts';
import { listPrices } from './compute/prices.ts';
import { answerContainers } from './containers/answer.ts';
import { openContainers } from './containers/groups.ts';
import { type AzureCall, readCall } from './read-call.ts';
import { giveToken } from './tokens.ts';
import { type World, whose } from './world.ts';

/** A fake Azure: one subscription with its clusters, the stores of App Configuration, and those who give tokens. */
export interface AzureRecord extends RecordedCall {
  readonly path: string;
  /** The size of the machine that it asks for. */
  readonly size: string | undefined;
  readonly page: string | undefined;
}

const sizeIn = ({ properties }: AzureCall['body']): string | undefined =>
  (properties as { hardwareProfile?: { vmSize?: string } } | undefined)?.hardwareProfile?.vmSize;

export interface FakeAzure extends Answering<AzureCall, AzureRecord> {
  readonly world: World;
}

const MANAGEMENT = 'https://management.azure.com';
const SUBSCRIPTION = '00000000-0000-0000-0000-000000000001';

function checkQuestion({ params, path }: AzureCall, { subscriptionId }: World): void {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(params['api-version'] ?? ''))
    throw refusal('MissingApiVersionParameter', 'The api-version query parameter is required for all requests.');
  const asked = path.split('/')[2]?.toLowerCase();
  if (asked !== subscriptionId)
    throw refusal('SubscriptionNotFound', `The subscription '${asked}' could not be found.`, 404);
}

const AUDIENCES = ['https://management.core.windows.net', MANAGEMENT].flatMap((one) => [`'${one}/'`, `'${one}'`]);

const inUtc = (ms: number): string =>
  new Date(ms)
    .toLocaleString('en-US', { timeZone: 'UTC' })
    .replace(',', '')
    .replace(/\u202f/g, ' ');

/** Resource Manager says what is wrong with a token. */
function checkToken({ headers }: AzureCall, world: World): void {
  const token = headers.get('authorization')?.replace(/^Bearer /, '');
  if (token === undefined)
    throw refusal('AuthenticationFailed', "Authentication failed. The 'Authorization' header is missing.", 401);
  if (whose(world, token, MANAGEMENT) !== undefined) return;
  const grant = world.granted.get(token);
  if (!grant) throw refusal('InvalidAuthenticationToken', 'The access token is invalid.', 401);
  if (grant.resource !== MANAGEMENT)
    throw refusal(
      'InvalidAuthenticationTokenAudience',
      `The access token has been obtained for wrong audience or resource '${grant.resource}'. It should exactly match with one of the allowed audiences ${AUDIENCES.join()}.`,
      401,
    );
  const [expired, now] = [inUtc(grant.expiresAt), inUtc(world.clock.now())];
  throw refusal(
    'ExpiredAuthenticationToken',
    `The access token expiry UTC time '${expired}' is earlier than current UTC time '${now}'.`,
    401,
  );
}

function answer(call: AzureCall, world: World): object {
  if (call.action.endsWith('.unknown')) throw refusal('NotFound', `There is no ${call.path}.`, 404);
  if (call.service === 'appConfiguration') return answerAppConfiguration(call, world);
  if (call.service === 'prices') return listPrices(call);
  if (call.service !== 'management') return giveToken(call, world);
  if (!world.isOpen) checkToken(call, world);
  checkQuestion(call, world);
  checkCall(call);
  return answerCompute(call, world) ?? answerContainers(call, world) ?? askClusters(call, world);
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

// learn.microsoft.com/azure/container-instances/container-instances-resource-and-quota-limits: creations, as deletions, of
// container groups: 100 in five minutes, 300 an hour.
const GROUP_CHANGES = { size: 100, perSecond: 300 / 3_600 };
const isGroupChange = (action: string): boolean => /\.container(Put|Delete)$/.test(action);

/** What Resource Manager allows each subscription and identity. */
export const publishedLimits: Limits<AzureCall> = ({ service, action, sent: { method } }) => {
  if (service !== 'management') return [];
  if (method === 'GET') return [{ limit: { bucket: 'reads', size: 250, perSecond: 25 }, count: 1 }];
  const bucket = method === 'DELETE' ? 'deletes' : 'writes';
  const all = { limit: { bucket, size: 200, perSecond: 10 }, count: 1 };
  return isGroupChange(action) ? [all, { limit: { bucket: `groups ${bucket}`, ...GROUP_CHANGES }, count: 1 }] : [all];
};

export interface FakeAzureOptions extends Omit<ComputeOptions, 'clock' | 'subscriptionId'> {
  /** The most items on a page. */
  readonly pageSize?: number | undefined;
  readonly limits?: Limits<AzureCall> | undefined;
}

const tooMuch = ({ service }: AzureCall): Error =>
  service === 'appConfiguration'
    ? refusal('Resource utilization has surpassed the assigned quota', 'Policy: Total Requests.', 429)
    : refusal('TooManyRequests', 'The request is being throttled.', 429);

export function openFakeAzure(clock: Clock, options: FakeAzureOptions = {}): FakeAzure {
  const { pageSize = 50, limits = noLimits, ...behaviour } = options;
  const take = openBuckets<AzureCall>({ limits: () => limits, tooMuch });
  const compute = openCompute({ clock, subscriptionId: SUBSCRIPTION, ...behaviour });
  const world: World = {
    clock,
    subscriptionId: SUBSCRIPTION,
    clusters: [],
    stores: new Map(),
    compute,
    containers: openContainers({ ...compute, subscriptionId: SUBSCRIPTION }),
    isOpen: false,
    proofs: new Map(),
    machineIdentities: [],
    granted: new Map(),
    denied: new Set(),
    largestPage: pageSize,
    serial: 0,
  };
  const answering = openAnswering<AzureCall, AzureRecord>(
    {
      read: readCall,
      record: ({ service, action, region, path, body, params }, atMs) => ({
        ...{ service, action, region, path, atMs },
        // For tests that ask what was wanted, and which page.
        ...{ size: sizeIn(body), page: params.$skiptoken },
        outcome: 'open',
      }),
      answer(call) {
        take(call, clock.now());
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

import type { WireCall } from '#fakes/failure-rules.ts';
import { type Params, parseParams } from './params.ts';

export type Service = 'ec2' | 'ssm' | 'sts' | 'eks' | 'ecs';

/** A request as the wire has it. */
export interface AwsCall extends WireCall {
  readonly service: Service;
  /** The key that signed it; undefined if it is unsigned. */
  readonly accessKey: string | undefined;
  /** The form of a query call. */
  readonly params: Params;
  /** The same as it stood, or the JSON of a call of SSM or ECS: for the log, and to tell equal calls. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Its body could not be read. */
  readonly isGarbled?: boolean | undefined;
}

interface Scope {
  readonly accessKey: string;
  readonly region: string;
  readonly service: string;
}

const DEFAULT_REGION = 'us-east-1';
const ECS_TARGET = 'AmazonEC2ContainerServiceV';
const STS_ACTIONS = new Set(['GetCallerIdentity', 'AssumeRole', 'AssumeRoleWithWebIdentity', 'GetSessionToken']);

/** The credential scope of Signature Version 4: `<key>/<day>/<region>/<service>/aws4_request`. */
function readScope(request: Request, query: URLSearchParams): Scope | undefined {
  const signed = /Credential=([^,\s]+)/.exec(request.headers.get('authorization') ?? '')?.[1];
  const [accessKey, , region, service] = (signed ?? query.get('X-Amz-Credential') ?? '').split('/');
  return accessKey && region && service ? { accessKey, region, service } : undefined;
}

/** Undefined if the body is no JSON: the service refuses that in its own words. */
function readBody(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return text === '' ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
  } catch {
    return undefined;
  }
}

function queryService(scope: Scope | undefined, host: string, action: string): Service {
  if (scope?.service === 'sts' || host.startsWith('sts.')) return 'sts';
  if (scope?.service === 'ec2' || host.startsWith('ec2.')) return 'ec2';
  return STS_ACTIONS.has(action) ? 'sts' : 'ec2';
}

/** EKS speaks REST: the path names the action. */
function readEksPath(
  method: string,
  { pathname, searchParams }: URL,
): { readonly action: string; readonly name?: string } {
  const query = Object.fromEntries(searchParams);
  const name = /^\/clusters\/([^/]+)$/.exec(pathname)?.[1];
  if (method === 'GET' && name !== undefined) return { ...query, action: 'DescribeCluster', name };
  return { ...query, action: method === 'GET' && pathname === '/clusters' ? 'ListClusters' : '' };
}

export async function readCall(request: Request): Promise<AwsCall> {
  const url = new URL(request.url);
  const scope = readScope(request, url.searchParams);
  const regionOfHost = /^(?:ec2|ssm|sts|eks|ecs)\.([a-z0-9-]+)\.amazonaws/.exec(url.hostname)?.[1];
  const known = { region: scope?.region ?? regionOfHost ?? DEFAULT_REGION, accessKey: scope?.accessKey };
  const text = await request.text();
  if (scope?.service === 'eks' || url.host.startsWith('eks.')) {
    const { action, ...body } = readEksPath(request.method, url);
    return { ...known, service: 'eks', action, params: parseParams([]), body };
  }
  const target = request.headers.get('x-amz-target');
  if (target !== null) {
    const action = target.slice(target.lastIndexOf('.') + 1);
    const body = readBody(text);
    const service = target.startsWith(ECS_TARGET) ? 'ecs' : 'ssm';
    return { ...known, service, action, params: parseParams([]), body: body ?? {}, isGarbled: !body };
  }
  const pairs = [...url.searchParams, ...new URLSearchParams(text)];
  const form = Object.fromEntries(pairs.filter(([name]) => !/^(Version$|X-Amz-)/.test(name)));
  const { Action: action = '', ...body } = form;
  return { ...known, service: queryService(scope, url.hostname, action), action, params: parseParams(pairs), body };
}

// Token buckets by account and region, as EC2 and Systems Manager publish them:
// docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html and the quotas of Parameter Store.

import { refusal } from './refusal.ts';
import { numberAt, textsAt } from './wire/params.ts';
import type { Service, WireCall } from './wire/read-call.ts';

export interface Limit {
  /** Calls of the same bucket share it. */
  readonly bucket: string;
  readonly size: number;
  readonly perSecond: number;
}

/** Which buckets a call takes from, and how much. */
export type Limits = (call: WireCall) => readonly { readonly limit: Limit; readonly count: number }[];

const READS = /^(Describe|Get|List|Search)/;

const OWN: Readonly<Record<string, readonly [size: number, perSecond: number]>> = {
  RunInstances: [5, 2],
  StartInstances: [5, 2],
  TerminateInstances: [100, 5],
  CreateTags: [100, 10],
};

const MACHINES: Readonly<Record<string, readonly [size: number, perSecond: number]>> = {
  RunInstances: [1_000, 2],
  StartInstances: [1_000, 2],
  StopInstances: [1_000, 20],
  TerminateInstances: [1_000, 20],
};

function ec2Limit(action: string): Limit {
  const [size, perSecond] = OWN[action] ?? (READS.test(action) ? [100, 20] : [50, 5]);
  return { bucket: action, size, perSecond };
}

/** Unasked, Parameter Store gives 40 reads a second to all three ways of reading together, and 3 writes. */
function ssmLimit(action: string): Limit {
  if (/^GetParameter/.test(action)) return { bucket: 'GetParameter', size: 40, perSecond: 40 };
  if (action === 'PutParameter') return { bucket: action, size: 3, perSecond: 3 };
  return { bucket: action, size: 10, perSecond: 10 };
}

const machinesOf = ({ params }: WireCall): number =>
  numberAt(params, 'MaxCount') ?? Math.max(1, textsAt(params, 'InstanceId').length);

export const publishedLimits: Limits = (call) => {
  if (call.service === 'sts') return [];
  if (call.service === 'ssm') return [{ limit: ssmLimit(call.action), count: 1 }];
  const machines = MACHINES[call.action];
  const request = { limit: ec2Limit(call.action), count: 1 };
  if (!machines) return [request];
  const limit = { bucket: `${call.action} machines`, size: machines[0], perSecond: machines[1] };
  return [request, { limit, count: machinesOf(call) }];
};

export const noLimits: Limits = () => [];

export const tooMuch: Readonly<Record<Service, () => Error>> = {
  ec2: () => refusal('RequestLimitExceeded', 'Request limit exceeded.', 503),
  ssm: () => refusal('ThrottlingException', 'Rate exceeded'),
  sts: () => refusal('Throttling', 'Rate exceeded'),
};

interface Level {
  tokens: number;
  atMs: number;
}

/** Throws when a call is one too many; time refills. */
export function openBuckets(limits: () => Limits): (call: WireCall, nowMs: number) => void {
  const levels = new Map<string, Level>();
  const levelOf = (call: WireCall, { bucket, size, perSecond }: Limit, nowMs: number): Level => {
    const key = `${call.region} ${call.service} ${bucket}`;
    const level = levels.get(key) ?? { tokens: size, atMs: nowMs };
    levels.set(key, level);
    level.tokens = Math.min(size, level.tokens + ((nowMs - level.atMs) / 1_000) * perSecond);
    level.atMs = nowMs;
    return level;
  };
  return (call, nowMs) => {
    const taken = limits()(call).map(({ limit, count }) => ({ level: levelOf(call, limit, nowMs), count }));
    if (taken.some(({ level, count }) => level.tokens < count)) throw tooMuch[call.service]();
    for (const { level, count } of taken) level.tokens -= count;
  };
}

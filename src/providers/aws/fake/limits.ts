// The limits by account and region, as EC2 and Systems Manager publish them:
// docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html, the quotas of Parameter Store, and
// docs.aws.amazon.com/AmazonECS/latest/APIReference/request-throttling.html with those of Fargate.

import type { Limit, Limits } from '#fakes/limits.ts';
import { refusal } from '#fakes/refusal.ts';
import { numberAt, textsAt } from './wire/params.ts';
import type { AwsCall, Service } from './wire/read-call.ts';

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

/** Actions of one class share a bucket. */
function ecsLimits(action: string): Limit[] {
  if (/^(De)?[rR]egisterTaskDefinition$/.test(action)) return [{ bucket: 'definition modify', size: 20, perSecond: 1 }];
  if (action === 'DeleteTaskDefinitions') return [{ bucket: 'definition delete', size: 5, perSecond: 1 }];
  if (/TaskDefinition/.test(action)) return [{ bucket: 'definition read', size: 50, perSecond: 20 }];
  if (/^(DescribeTasks|ListTasks)$/.test(action)) return [{ bucket: 'task read', size: 100, perSecond: 20 }];
  if (/Cluster/.test(action)) return [{ bucket: 'cluster', size: 20, perSecond: 1 }];
  const modify = { bucket: 'task modify', size: 100, perSecond: 40 };
  return action === 'RunTask' ? [modify, { bucket: 'run on Fargate', size: 20, perSecond: 20 }] : [modify];
}

const machinesOf = ({ params }: AwsCall): number =>
  numberAt(params, 'MaxCount') ?? Math.max(1, textsAt(params, 'InstanceId').length);

export const publishedLimits: Limits<AwsCall> = (call) => {
  if (call.service === 'sts' || call.service === 'eks') return [];
  if (call.service === 'ecs') return ecsLimits(call.action).map((limit) => ({ limit, count: 1 }));
  if (call.service === 'ssm') return [{ limit: ssmLimit(call.action), count: 1 }];
  const machines = MACHINES[call.action];
  const request = { limit: ec2Limit(call.action), count: 1 };
  if (!machines) return [request];
  const limit = { bucket: `${call.action} machines`, size: machines[0], perSecond: machines[1] };
  return [request, { limit, count: machinesOf(call) }];
};

export const tooMuch: Readonly<Record<Service, () => Error>> = {
  ec2: () => refusal('RequestLimitExceeded', 'Request limit exceeded.', 503),
  ssm: () => refusal('ThrottlingException', 'Rate exceeded'),
  sts: () => refusal('Throttling', 'Rate exceeded'),
  ecs: () => refusal('ThrottlingException', 'Rate exceeded'),
  eks: () => refusal('ThrottlingException', 'Rate exceeded', 429),
};

import { Buffer } from 'node:buffer';
import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import type { Ask } from '../world.ts';

function describeCluster({ region, world, body }: Ask): object {
  const name = String(body.name);
  const cluster = region.clusters.get(name);
  if (!cluster) throw refusal('ResourceNotFoundException', `No cluster found for name: ${name}.`, 404);
  const { status, endpoint, ca } = cluster;
  const arn = `arn:aws:eks:${region.name}:${world.account}:cluster/${name}`;
  const data = ca && Buffer.from(ca).toString('base64');
  return { cluster: { name, arn, status, endpoint, certificateAuthority: { data } } };
}

function listClusters({ region, world, nowMs, body }: Ask): object {
  const { largestPage, emptyPages, tokenLifeMs } = world.behaviour;
  const size = Math.min(Number(body.maxResults ?? 100), largestPage);
  const token = typeof body.nextToken === 'string' ? body.nextToken : undefined;
  const question = { of: 'clusters', token, size, nowMs, emptyPages, tokenLifeMs };
  const cursor = cursorOf(question);
  if (!cursor) throw refusal('InvalidParameterException', 'The nextToken is not valid.', 400);
  const names = [...region.clusters.keys()].sort();
  const page = pageOf(
    question,
    cursor,
    inOrder(names, (name) => name),
  );
  return { clusters: page.items, nextToken: page.token ?? null };
}

/** What EKS can be asked here. */
export const EKS_ACTIONS: Readonly<Record<string, (ask: Ask) => object>> = {
  DescribeCluster: describeCluster,
  ListClusters: listClusters,
};

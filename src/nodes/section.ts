import { z } from 'zod';
import { type Chosen, type KnownKinds, oneKindWith } from '#config/kinds.ts';
import { matchesPattern } from '#core/name-pattern.ts';
import { count } from '#core/schema.ts';

const fields = {
  name: z
    .string()
    .min(1)
    .optional()
    .describe('Name of the account for `instanceGroups[].account`; by default its kind.'),
  groups: z
    .array(z.string().min(1))
    .min(1)
    .default(['*'])
    .describe('Names of the instance groups that objects may size; `*` stands for any text.'),
  maxNodes: count(0).optional().describe('The most nodes of all objects together in this account.'),
};

/** One place with instance groups, and what objects may do there. */
export type NodeAccount = Chosen & {
  readonly name?: string | undefined;
  readonly groups: readonly string[];
  readonly maxNodes?: number | undefined;
};

/** The section `nodes` of the server's file; absent: nothing is opened or watched. */
export interface NodesSettings {
  /** A name under `clusters`; absent: the cluster that kubectl would use, else the one that the server runs in. */
  readonly cluster?: string | undefined;
  readonly accounts: readonly NodeAccount[];
}

export function nodesSection({
  nodeGroups = {},
}: Pick<KnownKinds, 'nodeGroups'>): z.ZodType<NodesSettings | undefined> {
  return z
    .object({
      cluster: z
        .string()
        .min(1)
        .optional()
        .describe('Name of the cluster under `clusters`; by default the one of kubectl.'),
      accounts: z
        .array(oneKindWith(nodeGroups, { noun: 'node group', trust: 'operator', fields }))
        .default([])
        .describe('Where the instance groups of NodeProvisioners are.'),
    })
    .optional()
    .describe('Sizes GPU node groups by NodeProvisioner objects of a cluster.') as z.ZodType<NodesSettings | undefined>;
}

export const accountName = ({ name, kind }: NodeAccount): string => name ?? kind;

/** Whether the operator lets objects size a group of that name. */
export function isPermitted({ groups }: NodeAccount, name: string): boolean {
  return groups.some((pattern) => matchesPattern(pattern, name));
}

import { type Row, table } from './table.ts';

export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** An API token, or one that lets agents join a pool; only its hash is kept. */
export interface Token extends Row {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly use: { readonly role: Role } | { readonly join: string };
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt?: number | undefined;
  /** The token whose login link made this one, which never outlives it. */
  readonly parent?: string | undefined;
}

/** Keys made at first start: the root of launch tokens, the certificate authority. */
export interface Secret extends Row {
  readonly id: string;
  readonly value: string;
}

export const accessTables = {
  tokens: table<Token>()({ writer: 'access', indexes: { hash: (t) => t.hash } }),
  secrets: table<Secret>()({ writer: 'access', indexes: {} }),
} as const;

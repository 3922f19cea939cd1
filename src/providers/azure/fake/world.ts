import type { Clock } from '#core/clock.ts';
import type { FakeStore } from './app-configuration/store.ts';
import type { Compute } from './compute/compute.ts';
import type { Containers } from './containers/groups.ts';

export const TOKEN_SECONDS = 3_600;

/** A cluster of AKS. */
export interface AksCluster {
  readonly name: string;
  readonly resourceGroup: string;
  readonly server: string;
  /** As PEM. */
  readonly ca: string;
  /** Whether it wants tokens of Entra; else it has a local account, of which this is the token. */
  readonly localToken?: string | undefined;
}

export interface Grant {
  readonly who: string;
  readonly resource: string;
  readonly expiresAt: number;
}

/** All that this Azure knows; tests change it as they go. */
export interface World {
  readonly clock: Clock;
  readonly subscriptionId: string;
  readonly clusters: AksCluster[];
  /** The stores of App Configuration, by name. */
  readonly stores: Map<string, FakeStore>;
  readonly compute: Compute;
  readonly containers: Containers;
  /** Whether everybody may do everything, as with an emulator. */
  isOpen: boolean;
  /** Secrets and federated tokens of applications, by client id. */
  readonly proofs: Map<string, string>;
  /** The identities of the machine, by client id; the first is its own. */
  readonly machineIdentities: string[];
  /** The tokens that were given and are not revoked. */
  readonly granted: Map<string, Grant>;
  /** Rights that nobody has. */
  readonly denied: Set<string>;
  largestPage: number;
  /** How many tokens were given. */
  serial: number;
}

/** Whose token for that resource this is; undefined where it is unknown, expired or for another. */
export function whose({ granted, clock }: World, token: string, resource: string): string | undefined {
  const grant = granted.get(token);
  return grant && grant.resource === resource && clock.now() < grant.expiresAt ? grant.who : undefined;
}

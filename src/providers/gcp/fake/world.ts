import type { Clock } from '#core/clock.ts';
import type { GkeCluster } from '../gke/endpoint.ts';
import type { ComputeState } from './compute/state.ts';
import type { FakeContainerOperation, FakePool } from './container.ts';
import type { RunState } from './run/state.ts';
import type { Storage } from './storage/answer.ts';
import type { Granted } from './tokens.ts';

/** All that this Google knows; tests change it as they go. */
export interface World {
  readonly clock: Clock;
  readonly granted: Granted;
  /** By `projects/P/locations/L/clusters/C`. */
  readonly clusters: Map<string, GkeCluster>;
  /** By cluster: its node pools. */
  readonly pools: Map<string, readonly FakePool[]>;
  readonly containerOperations: Map<string, FakeContainerOperation>;
  readonly storage: Storage;
  readonly compute: ComputeState;
  readonly run: RunState;
  /** Permissions that nobody has. */
  readonly denied: Set<string>;
  /** Projects that have not enabled the Container API. */
  readonly withoutApi: Set<string>;
  /** The public keys of service accounts, by mail address. */
  readonly accountKeys: Map<string, string>;
  /** Who logged in with that refresh token. */
  readonly refreshTokens: Map<string, string>;
  /** Whose token of another system this is. */
  readonly subjectTokens: Map<string, string>;
  /** Which service accounts somebody may act as. */
  readonly mayActAs: Map<string, Set<string>>;
  /** The service account of the machine; undefined: it has none. */
  machineAccount: string | undefined;
}

// Container groups as Azure shows them: learn.microsoft.com/rest/api/container-instances/container-groups.
import type { Resource } from '../vm/api.ts';

export const CONTAINERS_VERSION = '2023-05-01';
export const GROUP_TYPE = 'Microsoft.ContainerInstance/containerGroups';

export interface ContainerEvent {
  readonly name?: string;
  readonly message?: string;
  readonly type?: string;
}

export interface ContainerView {
  readonly currentState?: { readonly state?: string; readonly exitCode?: number; readonly detailStatus?: string };
  readonly events?: readonly ContainerEvent[];
}

export interface ContainerGroup extends Resource {
  readonly properties: {
    readonly provisioningState: string;
    readonly ipAddress?: { readonly ip?: string };
    readonly containers?: readonly {
      readonly name: string;
      readonly properties?: { readonly instanceView?: ContainerView };
    }[];
    /** Listings leave it out. */
    readonly instanceView?: { readonly state?: string; readonly events?: readonly ContainerEvent[] };
  };
}

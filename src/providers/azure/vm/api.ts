/** What Azure shows of any resource. */
export interface Resource {
  readonly id: string;
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>> | null;
}

export interface Status {
  readonly code?: string;
  readonly message?: string;
}

/** A machine, as far as it matters here. */
export interface VirtualMachine extends Resource {
  readonly properties: {
    readonly vmId: string;
    readonly provisioningState: string;
    readonly timeCreated?: string;
    readonly instanceView?: { readonly statuses?: readonly Status[] };
  };
}

/** A network interface, a public address or a disk, with what holds it. */
export interface Part extends Resource {
  /** Of a disk: the machine that it is attached to. */
  readonly managedBy?: string;
  readonly properties?: {
    /** Of an interface: its machine. */
    readonly virtualMachine?: { readonly id: string };
    /** Of an address: the place in an interface. */
    readonly ipConfiguration?: { readonly id: string };
    readonly ipAddress?: string;
    /** Of an interface. */
    readonly ipConfigurations?: readonly {
      readonly properties?: {
        readonly privateIPAddress?: string;
        readonly publicIPAddress?: { readonly id: string };
      };
    }[];
  };
}

/** A virtual network or a network security group. */
export interface NetworkPart extends Resource {
  readonly properties?: { readonly provisioningState?: string };
}

export const COMPUTE_VERSION = '2026-03-01';
export const DISK_VERSION = '2024-03-02';
export const NETWORK_VERSION = '2024-05-01';

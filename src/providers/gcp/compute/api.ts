// What version 1 of Compute Engine's API answers, as far as it matters here.

export interface CodedError {
  readonly code?: string;
  readonly message?: string;
}

interface Errors {
  readonly errors?: readonly CodedError[];
}

export interface Operation {
  readonly name: string;
  readonly status: 'PENDING' | 'RUNNING' | 'DONE';
  /** A failed operation is done too. */
  readonly error?: Errors;
  /** Of a bulkInsert: what it came to, by zone. */
  readonly instancesBulkInsertOperationMetadata?: {
    readonly perLocationStatus?: Readonly<
      Record<string, { readonly targetVmCount?: number; readonly createdVmCount?: number }>
    >;
  };
}

export interface Metadata {
  readonly items?: readonly { readonly key: string; readonly value?: string }[];
}

export interface AttachedAccelerator {
  /** Its name or its URL. */
  readonly acceleratorType?: string;
  readonly acceleratorCount?: number;
}

export interface InstanceProperties {
  readonly machineType?: string;
  readonly guestAccelerators?: readonly AttachedAccelerator[];
  readonly disks?: readonly {
    readonly boot?: boolean;
    readonly initializeParams?: { readonly diskSizeGb?: string | number };
  }[];
  readonly metadata?: Metadata;
  readonly scheduling?: { readonly provisioningModel?: string; readonly preemptible?: boolean };
}

export interface InstanceTemplate {
  readonly id?: string;
  readonly name: string;
  readonly properties?: InstanceProperties;
}

/** A managed instance group, `instanceGroupManagers` in paths. */
export interface GroupResource {
  readonly name: string;
  readonly selfLink?: string;
  readonly instanceTemplate?: string;
  readonly versions?: readonly { readonly instanceTemplate?: string }[];
  readonly baseInstanceName?: string;
  readonly description?: string;
  readonly status?: { readonly autoscaler?: string };
  readonly updatePolicy?: { readonly instanceRedistributionType?: string };
  /** Of a regional group. */
  readonly distributionPolicy?: { readonly zones?: readonly { readonly zone: string }[] };
}

/** An instance as its group sees it. */
export interface ManagedInstance {
  /** Its URL, also before it exists. */
  readonly instance?: string;
  readonly name?: string;
  /** Absent while it does not exist. */
  readonly id?: string;
  readonly instanceStatus?: string;
  readonly currentAction?: string;
  readonly scheduling?: { readonly terminationTimestamp?: string };
  readonly lastAttempt?: { readonly errors?: Errors };
  readonly preservedStateFromConfig?: { readonly metadata?: Readonly<Record<string, string>> };
}

/** Instances that a group waits for. */
export interface ResizeRequest {
  readonly name: string;
  readonly description?: string;
  readonly state?: string;
  readonly creationTimestamp?: string;
  /** One of the two. */
  readonly resizeBy?: number;
  readonly instances?: readonly Named[];
  /** Of `error` each is final, of `lastAttempt` none. */
  readonly status?: { readonly error?: Errors; readonly lastAttempt?: { readonly error?: Errors } };
}

export interface Instance {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly zone: string;
  readonly creationTimestamp: string;
  readonly metadata?: Metadata;
  readonly labels?: Readonly<Record<string, string>>;
  /** When it last entered RUNNING. */
  readonly lastStartTimestamp?: string;
  readonly scheduling?: {
    readonly maxRunDuration?: { readonly seconds?: string };
    readonly instanceTerminationAction?: string;
  };
  readonly resourceStatus?: {
    /** When Google ends it; absent unless it runs, and in versions of the API that do not show it. */
    readonly scheduling?: { readonly terminationTimestamp?: string };
  };
  readonly networkInterfaces?: readonly {
    readonly networkIP?: string;
    readonly accessConfigs?: readonly { readonly natIP?: string }[];
  }[];
}

export interface Named {
  readonly name: string;
}

/** The last part of a URL or path. */
export const lastPart = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

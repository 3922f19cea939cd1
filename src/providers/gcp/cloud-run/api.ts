// What version 2 of the Cloud Run Admin API answers, as far as it matters here.

export interface Condition {
  readonly type?: string;
  readonly state?: string;
  readonly message?: string;
  /** Of the service; those of its revision come in another field. */
  readonly reason?: string;
  readonly revisionReason?: string;
}

export interface Service {
  /** `projects/P/locations/R/services/NAME`. */
  readonly name: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly createTime?: string;
  /** Set once it is being deleted. */
  readonly deleteTime?: string;
  readonly etag?: string;
  readonly uri?: string;
  /** It is on its way to what was asked for. */
  readonly reconciling?: boolean;
  /** Whether it got there. */
  readonly terminalCondition?: Condition;
  readonly conditions?: readonly Condition[];
}

export interface Status {
  /** Of google.rpc. */
  readonly code?: number;
  readonly message?: string;
}

export interface Operation {
  /** `projects/P/locations/R/operations/ID`. */
  readonly name: string;
  readonly done?: boolean;
  /** A failed operation is done too. */
  readonly error?: Status;
}

export interface ServicePage {
  readonly services?: readonly Service[];
  readonly unreachable?: readonly string[];
  readonly nextPageToken?: string;
}

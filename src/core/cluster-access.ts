/** How to know an API server and be known by it; certificates and keys as PEM. */
export interface TlsTrust {
  /** Absent: what the system trusts. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name in the server's certificate, where it is not the one in its address. */
  readonly serverName?: string | undefined;
  /** Takes any certificate. */
  readonly isInsecure?: true | undefined;
}

/** How to get to a server: by its address, by a proxy of its own, or by a socket of this machine, whatever the address says. */
export interface ServerReach extends TlsTrust {
  readonly proxyUrl?: string | undefined;
  readonly socketPath?: string | undefined;
}

/** What opens a cluster at this moment. */
export interface ClusterCredential {
  readonly headers: Readonly<Record<string, string>>;
  /** With the client's certificate, where that is how it proves itself. */
  readonly tls: ServerReach;
}

/** The API server of a Kubernetes cluster: what a kind of the family `clusters` opens. */
export interface ClusterAccess {
  /** Names the API server, never the credential: what shares watches, listings and budget. */
  readonly id: string;
  /** `https://host:port`, with a path where the server stands behind one; no slash at the end. */
  readonly server: string;
  /** Where objects go that name no namespace. */
  readonly namespace?: string | undefined;
  /** Asked before every request; renews what has expired, and answers from memory otherwise. */
  credential(signal: AbortSignal): Promise<ClusterCredential>;
  /** The API server refused the credential (401): the next question gets another. */
  refused?(): void;
  close?(): Promise<void>;
}

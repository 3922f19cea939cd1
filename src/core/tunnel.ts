/** Where a tunnel ends on the worker: a port there, a tar archive that is read there, or one that is unpacked there. */
export type TunnelEnd = { readonly port: number } | { readonly read: string } | { readonly write: string };

/** Bytes both ways between a client of the API and the worker of a session. Each side may end its own bytes first. */
export interface Tunnel {
  /** Bytes from the other side until it sends no more; throws the `Fault` that ended it. */
  readonly received: AsyncIterable<Uint8Array>;
  /** Called after `received` has ended: resolves when the other side has also taken all bytes; throws the `Fault` that ended it. */
  finished(): Promise<void>;
  /** In the order of the calls. Resolves when the connection has taken the bytes, so that a slow reader slows the sender down; throws once the tunnel is closed. */
  send(data: Uint8Array): Promise<void>;
  /** This side sends no more bytes after those before. */
  end(): void;
  /** Ends both directions at once; bytes that are still on their way are dropped. */
  close(): void;
}

/** A tunnel that an agent is asked for. */
export interface TunnelRequest {
  readonly agent: string;
  /** Absent: it goes to the machine itself, as any command of the agent could reach it. */
  readonly session?: string | undefined;
  readonly attempt: number;
  readonly to: TunnelEnd;
}

/** Opens tunnels to agents; resolves when the agent has opened its end, or throws the `Fault` that the agent names. */
export type OpenTunnel = (request: TunnelRequest, signal: AbortSignal) => Promise<Tunnel>;

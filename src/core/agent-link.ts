import type { SessionSpec } from './session.ts';
import type { OpenTunnel, TunnelEnd } from './tunnel.ts';

/** A command to an agent; the broker translates it into the agent's protocol. */
export type AgentCommand =
  | { readonly do: 'start'; readonly session: string; readonly attempt: number; readonly spec: SessionSpec }
  | { readonly do: 'kill'; readonly session: string; readonly force: boolean; readonly graceMs: number }
  | { readonly do: 'input'; readonly session: string; readonly data: Uint8Array; readonly isLast: boolean }
  | { readonly do: 'resize'; readonly session: string; readonly columns: number; readonly rows: number }
  /** Output up to this number is durable here, and with `result` the end too: the agent may forget them. */
  | {
      readonly do: 'ack';
      readonly session: string;
      readonly attempt: number;
      readonly seq: number;
      readonly result: boolean;
    }
  /** Open a call of its own that shows this id. */
  | {
      readonly do: 'open tunnel';
      /** Undefined: it goes to the machine itself. */
      readonly session: string | undefined;
      readonly attempt: number;
      readonly id: string;
      readonly to: TunnelEnd;
    }
  /** The other end of that tunnel is gone. */
  | { readonly do: 'close tunnel'; readonly session: string | undefined; readonly id: string }
  /** Take nothing new; with `stop`, exit when idle. */
  | { readonly do: 'drain'; readonly stop: boolean }
  /**
   * End all sessions and yourself then, in milliseconds since 1970; undefined: never. It replaces the end that the agent
   * started with, also after its restarts. The sender repeats it after every join, so there is no acknowledgement. Only
   * for agents that have `movesEnd`.
   */
  | { readonly do: 'end at'; readonly at: number | undefined };

/** A report of an agent about its sessions. Reports may be repeated after a reconnect. */
export type AgentReport =
  | { readonly is: 'started'; readonly session: string; readonly attempt: number }
  | {
      readonly is: 'refused';
      readonly session: string;
      readonly attempt: number;
      readonly why: string;
      /** Another attempt cannot help: on this agent, or on no agent at all. */
      readonly forGood?: 'here' | 'anywhere' | undefined;
    }
  | {
      readonly is: 'output';
      readonly session: string;
      readonly attempt: number;
      readonly seq: number;
      readonly stream: 'stdout' | 'stderr';
      readonly data: Uint8Array;
    }
  /** So many bytes of its input no longer wait on the agent; an agent that says so at the start takes no more than the server allows. */
  | { readonly is: 'input taken'; readonly session: string; readonly attempt: number; readonly bytes: number }
  | {
      readonly is: 'ended';
      readonly session: string;
      readonly attempt: number;
      /** The number of its last piece of output; 0 where there was none. */
      readonly lastSeq: number;
      readonly how: 'exited' | 'signalled' | 'killed' | 'timeout' | 'lost';
      readonly exitCode?: number | undefined;
      readonly signal?: string | undefined;
      readonly message?: string | undefined;
    };

/** The first message of an agent: who it is and what it is doing. */
export interface Hello {
  readonly name: string;
  /** The pool's name. */
  readonly pool: string;
  /** 0 from an agent that drains. */
  readonly slots: number;
  readonly labels: Readonly<Record<string, string>>;
  /** It can make the folder of a session from files of the server. */
  readonly takesFiles?: true | undefined;
  /** It can open tunnels for copies and forwarded ports. */
  readonly opensTunnels?: true | undefined;
  /** The server can move its end (`end at`). */
  readonly movesEnd?: true | undefined;
  readonly wire: 'muster' | 'velda';
  readonly version: string;
  readonly hostname: string;
  /** As the agent reports; otherwise the address of the peer. */
  readonly address: string;
  /** Its cloud has announced that it reclaims the machine. */
  readonly leaving?: { readonly why: string; readonly endsAt: number } | undefined;
  /** All that it runs, or has finished and not yet reported. */
  readonly executions: readonly { readonly session: string; readonly attempt: number }[];
}

/** The credentials of a joining agent. */
export interface JoinProof {
  readonly peerAddress: string;
  readonly token?: string | undefined;
  /** The key that the agent made for itself at its first start. */
  readonly key?: string | undefined;
  /** The common name of a client certificate that our CA signed. */
  readonly certificateName?: string | undefined;
}

/** The connection to all agents, for features that send commands. */
export interface AgentLink {
  /** False if that agent is not connected; its sessions are reconciled when it reconnects. */
  send(agent: string, command: AgentCommand): boolean;
  /** Bytes that are still being sent: senders of large data wait while there are many. */
  waitingBytes?(agent: string): number;
  readonly openTunnel?: OpenTunnel;
  /** Closes the connection of an agent that must not stay. */
  dismiss(agent: string, why: string): void;
}

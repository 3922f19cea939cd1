import type { Fault } from './fault.ts';
import type { Actor } from './journal.ts';
import type { EndFault, MachineRow } from './machine.ts';
import type { Offer } from './pool.ts';
import type { Machine, MachineEndpoint } from './provider.ts';
import { type Row, records, table } from './table.ts';

/** The public words for the state of a computer; `not_started` is only said by programs that have not asked for one yet. */
export const COMPUTER_STATUSES = ['not_started', 'starting', 'running', 'stopping', 'stopped', 'error'] as const;
export type ComputerStatus = (typeof COMPUTER_STATUSES)[number];

/** A name that every platform accepts, and that no one takes for an id. */
export const COMPUTER_NAME = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** One machine that somebody asked for by name. It is never replaced by itself. */
export interface Computer extends Row {
  /** Short and random: part of the mark of its machine. */
  readonly id: string;
  /** Unique among the computers that have not ended. */
  readonly name: string;
  readonly platform: string;
  /** What its machine is made from. */
  readonly offer: Offer;
  /** The port that its agent serves. */
  readonly port: number;
  /** How long it may take until it runs. */
  readonly timeoutMs: number;
  /** How many launches the cloud may refuse before it fails. */
  readonly maxRetries: number;
  readonly createdAt: number;
  /** Who asked for it; they and admins may use it. */
  readonly by: string;
  /** The id of the token that asked for it. */
  readonly token?: string | undefined;
  /** When it ends by itself; absent: never. */
  readonly endsAt?: number | undefined;
  /** Launches that its cloud has refused, or made no working machine of. */
  readonly refusals: number;
  /** The last of them, and when the next launch is due. */
  readonly refused?: (EndFault & { readonly at: number; readonly retryAt: number }) | undefined;
  /** When it was first seen running. */
  readonly runningAt?: number | undefined;
  /** Since when its agent is away, once it was here. */
  readonly awaySince?: number | undefined;
  /** Why it does not run and never will: what was made of it is deleted. */
  readonly failure?: (EndFault & { readonly at: number }) | undefined;
  /** Final: it is deleted, and its row goes with the last of it. */
  readonly removal?: { readonly at: number; readonly by: string; readonly why: string } | undefined;
}

/** The machine of a computer. A refused launch leaves none; the next one has another name. */
export interface ComputerMachine extends MachineRow {
  readonly computer: string;
}

/** A computer that is no more. */
export interface EndedComputer extends Row {
  /** Sorts by the time of the end. */
  readonly id: string;
  readonly computer: string;
  readonly name: string;
  readonly platform: string;
  readonly createdAt: number;
  readonly by: string;
  /** As that of the computer: only its creator and admins may read what ran there. */
  readonly token?: string | undefined;
  readonly runningAt?: number | undefined;
  readonly endedAt: number;
  readonly endedBy: string;
  readonly why: string;
  readonly failure?: Computer['failure'];
}

const isStopped = (listed: Machine | undefined): boolean =>
  listed?.state === 'suspended' || listed?.state === 'suspending';

/** Computed from facts, never stored, so that it cannot disagree with them; `listed` is its machine as the cloud shows it. */
export function computerStatus(computer: Computer, listed: Machine | undefined): ComputerStatus {
  if (computer.removal) return 'stopping';
  if (computer.failure) return 'error';
  if (computer.runningAt === undefined) return 'starting';
  return isStopped(listed) ? 'stopped' : 'running';
}

/** What somebody asks for. */
export interface ComputerRequest {
  readonly name: string;
  /** One of these three. */
  readonly platform?: string | undefined;
  readonly template?: string | undefined;
  /** Any backend as a pool would name it: `{ docker: { image: … } }`. */
  readonly backend?: Readonly<Record<string, unknown>> | undefined;
  /** Options of the platform, as their users write them. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Absent: the default of the server's file; `off`: it never ends by itself. */
  readonly ttlMs?: number | 'off' | undefined;
}

/** Who asks, and with what rights. */
export interface ComputerCaller extends Actor {
  readonly token: string;
  readonly isAdmin: boolean;
}

/** Whose a computer is, or was. */
export type ComputerOwner = Pick<Computer, 'name' | 'by' | 'token'>;

/** A computer as people see it. */
export interface ShownComputer {
  readonly computer: Computer;
  readonly status: ComputerStatus;
  readonly machine: ComputerMachine | undefined;
  readonly isAgentHere: boolean;
  readonly endpoints: readonly MachineEndpoint[];
  /** Its machine as the platform shows it. */
  readonly listed: Machine | undefined;
  /** Since when its agent is away; absent: it is here, or was never here. */
  readonly awaySince: number | undefined;
  /** What it waits for, or why it failed. */
  readonly why: string | undefined;
}

/** Computers, as the API sees them. */
export interface Computers {
  /** Resolves when the computer is durable; it starts from then on. */
  create(request: ComputerRequest, caller: ComputerCaller): Promise<ShownComputer>;
  /** Works in every state; a computer that is being removed is a success. */
  remove(name: string, caller: ComputerCaller, why?: string): Promise<ShownComputer>;
  /** Moves its end by that time from the later of now and its end, at most to the limit of the server's file. */
  extend(name: string, byMs: number, caller: ComputerCaller): Promise<ShownComputer>;
  /** Undefined: there is none of that name. */
  find(name: string): ShownComputer | undefined;
  list(): readonly ShownComputer[];
  /** Why this caller may not use the computer (sessions, files, ports); undefined: it may. */
  refusesUse(computer: ComputerOwner, caller: ComputerCaller): Fault | undefined;
  /** What a caller can ask for: platforms with their options, and templates of the server's file. */
  offered(): ComputerOffers;
}

/** An option of a platform, for help texts. */
export interface PlatformOption {
  readonly name: string;
  readonly about: string;
  readonly default?: string | undefined;
}

export interface ComputerOffers {
  readonly platforms: readonly {
    readonly name: string;
    readonly about: string;
    readonly needsAdmin: boolean;
    readonly options: readonly PlatformOption[];
  }[];
  readonly templates: readonly { readonly name: string; readonly platform: string }[];
}

declare module './feature.ts' {
  interface PublicFeatures {
    readonly computers?: Computers;
  }
}

export const computerTables = {
  computers: table<Computer>()({
    writer: 'computers',
    subject: 'computer',
    indexes: { name: (c) => c.name, token: (c) => c.token, offer: (c) => c.offer.id },
  }),
  computerMachines: table<ComputerMachine>()({
    writer: 'computers',
    indexes: {
      computer: (m) => m.computer,
      launch: (m) => m.launch,
      machine: (m) => m.machine,
      offer: (m) => m.offer,
    },
  }),
} as const;

export const computerHistories = {
  endedComputers: records<EndedComputer>()({
    finds: { name: (c) => c.name, computer: (c) => c.computer },
    at: (c) => c.endedAt,
    kept: { setting: 'computers', default: '30d', about: 'Retention time of ended computers.' },
  }),
} as const;

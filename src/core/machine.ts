import type { FaultKind } from './fault.ts';
import { readMark } from './mark.ts';
import type { Price } from './pool.ts';
import type { Boot, Mark, Use } from './provider.ts';
import { type Row, records, table } from './table.ts';

/** The row of a machine; features extend it with their own fields. */
export interface MachineRow extends Row {
  /** The name that we gave it, never used again. */
  readonly id: string;
  /** Absent for a machine that we did not launch: adopted, or come by itself to a manual pool. */
  readonly launch?: string | undefined;
  readonly offer?: string | undefined;
  /** The name under which the cloud lists it; its own, except where the cloud insists on another. */
  readonly machine: string;
  /** The cloud's id of the machine that joined: another id under the same name is another machine. */
  readonly machineId?: string | undefined;
  readonly askedAt: number;
  /** Of the machine, in dollars, as its owner said when it was asked for. */
  readonly pricePerHour?: number | undefined;
  /** When the cloud accepted the launch. */
  readonly createdAt?: number | undefined;
  /** When it first proved that it works, as its agent does by joining: durable, so that a restart does not take it for one that never booted. */
  readonly joinedAt?: number | undefined;
  /** SHA-256 of its agent's own key: the launch token alone never admits a second agent. */
  readonly credential?: string | undefined;
  /** What its offer came to when it was asked for, where the cloud tells. */
  readonly form?: string | undefined;
  /** Its machine is stopped, or will be, and waits for a launch that wakes it. */
  readonly parked?: Parked | undefined;
  /** It was parked, was woken, and has not joined since. */
  readonly isWaking?: true | undefined;
  /** What it cost in a month before it was woken the last time. */
  readonly ranBefore?: RanBefore | undefined;
  /** Final once committed: the machine will be deleted, and agents of its name are refused. */
  readonly removal?: Removal | undefined;
}

export interface Parked {
  readonly at: number;
  /** When its cloud first showed it stopped: until then it costs. */
  readonly stoppedAt?: number | undefined;
}

export interface RanBefore {
  /** When that month began. */
  readonly monthFrom: number;
  readonly dollars: number;
}

export interface Removal {
  readonly at: number;
  readonly why: string;
  /** Where the machine is removed because it does not work. */
  readonly fault?: EndFault | undefined;
  /** Its cloud had agreed to make it, and failed to: durable, so that a restart does not forget it. */
  readonly isNotMade?: true | undefined;
}

export interface EndFault {
  readonly kind: FaultKind;
  readonly message: string;
  readonly remedy?: string;
}

/** A committed request for one or more named machines: same id, same bytes, always. */
export interface LaunchRecord extends Row {
  readonly id: string;
  readonly offer: string;
  /** Read it with `readMark`: the previous version stored another form. */
  readonly mark: Mark;
  readonly names: readonly string[];
  readonly agentConfig: string;
  readonly install?: Boot['install'];
  readonly port?: Boot['port'];
  readonly endsAt?: Boot['endsAt'];
  readonly askedAt: number;
  /** By name: what its cloud is not done with. Absent in rows of earlier versions. */
  readonly operations?: Readonly<Record<string, string>> | undefined;
}

/** A connected agent. In memory only: agents reconnect by themselves. */
export interface Agent extends Row {
  /** The id of the row of its machine. */
  readonly id: string;
  readonly use: Use;
  /** The pool or computer that its machine is for. */
  readonly owner: string;
  /** Grows with every connection: the end of an old stream never counts against a newer one. */
  readonly epoch: number;
  readonly slots: number;
  readonly labels: Readonly<Record<string, string>>;
  /** It can make the folder of a session; others get no session with files. */
  readonly takesFiles?: true | undefined;
  /** It can open tunnels for copies and forwarded ports. */
  readonly opensTunnels?: true | undefined;
  /** The server can move its end (`end at`). */
  readonly movesEnd?: true | undefined;
  /** `velda` agents know nothing of our own fields. */
  readonly wire: 'muster' | 'velda';
  readonly version: string;
  readonly hostname: string;
  readonly address: string;
  readonly connectedAt: number;
  /** Sessions that it runs and that the server does not know: they keep their slots, and are never killed. */
  readonly unknown?: readonly string[] | undefined;
}

/** A machine that was asked for and is no more. Written in the commit that drops its row. */
export interface EndedMachine extends Row {
  /** Sorts by the time of the end; a name may end more than once where a cloud uses names again. */
  readonly id: string;
  /** The id of its row: the name that we gave it. */
  readonly machine: string;
  readonly use: Use;
  readonly owner: string;
  /** What its owner was called; absent in rows of earlier versions, and where there was none any more. */
  readonly ownerName?: string | undefined;
  /** The source of its pool. */
  readonly source?: string | undefined;
  readonly offer: string;
  readonly kind: string;
  /** When it was asked for, or woken the last time. */
  readonly askedAt: number;
  readonly createdAt?: number | undefined;
  readonly joinedAt?: number | undefined;
  /** When its removal was committed; absent: it ended by itself, or never came. */
  readonly removedAt?: number | undefined;
  readonly endedAt: number;
  /** We deleted it or did not need it any more, its cloud no longer had it, or its cloud made none that works. */
  readonly how: 'removed' | 'gone' | 'failed';
  readonly fault?: EndFault | undefined;
  /** What it cost, as far as the server knows: the first price, and each change of it. */
  readonly prices?: readonly Price[] | undefined;
  /** What its cloud said, where its pool stated another price. */
  readonly listed?: readonly Price[] | undefined;
  /** When its cloud first showed it stopped, where it ended while it was parked. */
  readonly stoppedAt?: number | undefined;
  readonly ranBefore?: RanBefore | undefined;
}

export const machineTables = {
  launches: table<LaunchRecord>()({ writer: 'machines', indexes: { owner: (l) => readMark(l.mark).owner } }),
  agents: table<Agent>()({ writer: 'machines', volatile: true, indexes: { owner: (a) => a.owner } }),
} as const;

export const machineHistories = {
  endedMachines: records<EndedMachine>()({
    finds: { machine: (m) => m.machine, owner: (m) => m.owner },
    at: (m) => m.endedAt,
    kept: { setting: 'machines', default: '90d', about: 'Retention time of ended machines.' },
  }),
} as const;

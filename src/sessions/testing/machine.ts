// A machine with a Muster agent, as sessions see it: it keeps what was not acknowledged, and can be disconnected.
import type { AgentCommand, AgentReport, Hello } from '#core/agent-link.ts';

export interface Copy {
  readonly session: string;
  readonly attempt: number;
  isRunning: boolean;
  /** Texts of its output; the number of one is its place, from 1. */
  readonly printed: string[];
  ackedSeq: number;
  end: AgentReport | undefined;
}

export interface Machine {
  readonly name: string;
  readonly slots: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly copies: Map<string, Copy>;
  isConnected: boolean;
  isAlive: boolean;
  readonly inbox: AgentCommand[];
  readonly outbox: AgentReport[];
}

/** Violations that the machine saw. */
export type Complain = (what: string) => void;

export function makeMachine(name: string, slots: number, labels: Machine['labels']): Machine {
  return { name, slots, labels, copies: new Map(), isConnected: false, isAlive: true, inbox: [], outbox: [] };
}

export const runningOn = (machine: Machine): Copy[] => [...machine.copies.values()].filter((copy) => copy.isRunning);

/** The connection broke: messages in flight in either direction are lost. */
export function cutOff(machine: Machine): void {
  machine.isConnected = false;
  machine.inbox.length = 0;
  machine.outbox.length = 0;
}

/** A new connection: lists what it runs, then sends all that was not acknowledged. */
export function reconnect(machine: Machine): Hello['executions'] {
  cutOff(machine);
  machine.isConnected = true;
  for (const copy of machine.copies.values()) {
    const { session, attempt } = copy;
    machine.outbox.push({ is: 'started', session, attempt });
    copy.printed.forEach((_, index) => {
      if (index + 1 > copy.ackedSeq) machine.outbox.push(outputOf(copy, index + 1));
    });
    if (copy.end) machine.outbox.push(copy.end);
  }
  return [...machine.copies.values()].map(({ session, attempt }) => ({ session, attempt }));
}

export function printOn(machine: Machine, copy: Copy): void {
  copy.printed.push(`${copy.session}/${copy.attempt}/${copy.printed.length + 1}`);
  machine.outbox.push(outputOf(copy, copy.printed.length));
}

export function endOn(machine: Machine, copy: Copy, how: 'exited' | 'killed'): void {
  if (!copy.isRunning) return;
  const { session, attempt, printed } = copy;
  copy.isRunning = false;
  copy.end = { is: 'ended', session, attempt, lastSeq: printed.length, how, exitCode: 0 };
  machine.outbox.push(copy.end);
}

function outputOf({ session, attempt, printed }: Copy, seq: number): AgentReport {
  return { is: 'output', session, attempt, seq, stream: 'stdout', data: Buffer.from(printed[seq - 1] ?? '') };
}

/** Carries out the oldest command that has reached it. */
export function obey(machine: Machine, refuses: boolean, complain: Complain): void {
  const command = machine.inbox.shift();
  if (command?.do === 'start') return begin(machine, command, { refuses, complain });
  if (command?.do !== 'kill' && command?.do !== 'ack') return;
  const copies = [...machine.copies.values()].filter((copy) => copy.session === command.session);
  for (const copy of copies) {
    if (command.do === 'kill') endOn(machine, copy, 'killed');
    else if (copy.attempt === command.attempt) acknowledge(machine, copy, command);
  }
}

function begin(
  machine: Machine,
  { session, attempt }: Extract<AgentCommand, { do: 'start' }>,
  { refuses, complain }: { refuses: boolean; complain: Complain },
): void {
  const key = `${session}/${attempt}`;
  if (machine.copies.has(key)) return complain(`${key} was sent twice to ${machine.name}`);
  if (runningOn(machine).length >= machine.slots) complain(`${machine.name} got ${key} without a free slot`);
  if (refuses) return void machine.outbox.push({ is: 'refused', session, attempt, why: 'no' });
  machine.copies.set(key, { session, attempt, isRunning: true, printed: [], ackedSeq: 0, end: undefined });
  machine.outbox.push({ is: 'started', session, attempt });
}

function acknowledge(machine: Machine, copy: Copy, { seq, result }: Extract<AgentCommand, { do: 'ack' }>): void {
  copy.ackedSeq = Math.max(copy.ackedSeq, seq);
  if (result && !copy.isRunning) machine.copies.delete(`${copy.session}/${copy.attempt}`);
}

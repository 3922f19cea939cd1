// A worker's folder in a temporary place, with everything that was said about its sessions.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentReport } from '#core/agent-link.ts';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { SessionSpec } from '#core/session.ts';
import { until } from '#core/testing/until.ts';
import { removeCgroup } from '#host/cgroup.ts';
import type { Execution } from '../execution.ts';
import { openFolder } from './folder.ts';
import { type ExecutionOptions, openExecution } from './open.ts';
import { endAll } from './signals.ts';

export function aSpec(command: readonly string[], more: Partial<SessionSpec> = {}): SessionSpec {
  return { command, env: {}, stdin: false, priority: 0, labels: {}, graceMs: 5_000, retries: 0, ...more };
}

export interface Stand {
  readonly workDir: string;
  readonly reports: AgentReport[];
  execution: Execution;
  start(session: string, spec: SessionSpec, attempt?: number): void;
  said<Is extends AgentReport['is']>(session: string, is: Is): Promise<Extract<AgentReport, { is: Is }>>;
  /** All output reported so far, each number once. */
  text(session: string, stream?: 'stdout' | 'stderr'): string;
  textHas(session: string, part: string): Promise<void>;
  sessionPath(session: string, attempt?: number): string;
  close(): void;
}

export function newWorkDir(): string {
  return mkdtempSync(join(tmpdir(), 'muster-execution-'));
}

/** Ends every process of that folder's sessions, then removes it: nothing stays behind, even when a test fails. */
export function clearWorkDir(workDir: string): void {
  const sessions = join(workDir, 'sessions');
  for (const name of existsSync(sessions) ? readdirSync(sessions) : []) {
    const folder = openFolder(join(sessions, name));
    const record = folder.readRecord();
    if (!record) continue;
    endAll({ ...record, processes: folder.readProcesses(record), terminal: folder.readTerminal(record) });
    if (record.cgroup !== undefined) removeCgroup(record.cgroup);
  }
  rmSync(workDir, { recursive: true, force: true });
}

export async function openStand(options: Partial<ExecutionOptions> = {}): Promise<Stand> {
  const workDir = options.workDir ?? newWorkDir();
  const reports: AgentReport[] = [];
  const report = (said: AgentReport): void => void reports.push(said);
  const settings = { slots: 4, clock: systemClock, log: silentLog, report, ...options, workDir };
  const pieces = (session: string, stream?: 'stdout' | 'stderr'): Uint8Array[] => {
    const outputs = reports.filter((said) => said.is === 'output').filter((said) => said.session === session);
    const bySeq = new Map(outputs.map((said) => [said.seq, said] as const));
    const sorted = [...bySeq.values()].toSorted((a, b) => a.seq - b.seq);
    return sorted.filter((said) => stream === undefined || said.stream === stream).map((said) => said.data);
  };
  const text: Stand['text'] = (session, stream) => Buffer.concat(pieces(session, stream)).toString();
  const execution = await openExecution(settings);
  return {
    workDir,
    reports,
    execution,
    start: (session, spec, attempt = 1) => execution.handle({ do: 'start', session, attempt, spec }),
    async said(session, is) {
      const found = await until(`"${is}" of ${session}`, () => {
        const its = reports.filter((said) => said.session === session);
        const hasStarted = its.some((said) => said.is === 'started');
        return its.find((said) => said.is === is || (said.is === 'refused' && !hasStarted));
      });
      if (found.is === is) return found as Extract<AgentReport, { is: typeof is }>;
      throw new Fault('conflict', `${session} was refused: ${'why' in found && found.why}`);
    },
    text,
    textHas: (session, part) =>
      until(`"${part}" from ${session}`, () => (text(session).includes(part) ? true : undefined)).then(() => {}),
    sessionPath: (session, attempt = 1) => join(workDir, 'sessions', `${session}.${attempt}`),
    close: () => clearWorkDir(workDir),
  };
}

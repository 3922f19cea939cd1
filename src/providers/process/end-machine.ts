import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { livingAgent, livingAll, livingSessions, signalEach } from './living.ts';
import type { MachineFolder, MachineRecord } from './machine-folder.ts';
import { forbidSessions } from './session-folders.ts';

// Time for the agent to disconnect cleanly; then sessions get SIGTERM, as on any machine that shuts down.
const AGENT_GRACE_MS = 1_500;
const SESSIONS_GRACE_MS = 500;
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 20;

/** Ends the agent, then its sessions, then whatever is left; throws where something outlives even that. */
export async function endMachine(
  folder: MachineFolder,
  record: MachineRecord,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  async function hasEnded(withinMs: number, isAlive: () => boolean): Promise<boolean> {
    const deadlineMs = clock.monotonic() + withinMs;
    while (isAlive()) {
      if (signal.aborted) throw new Fault('unavailable', `Deleting ${record.name} was cancelled.`);
      if (clock.monotonic() >= deadlineMs) return false;
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
    return true;
  }

  const agent = livingAgent(folder, record);
  if (agent) signalEach([agent.pid], 'SIGTERM');
  const isAgentGone = await hasEnded(AGENT_GRACE_MS, () => livingAgent(folder, record) !== undefined);
  // While it lives it could start more.
  if (agent && !isAgentGone) {
    signalEach([agent.pid], 'SIGKILL');
    await hasEnded(PATIENCE_MS, () => livingAgent(folder, record) !== undefined);
  }
  await forbidSessions(record, clock);
  const sessions = livingSessions(record);
  signalEach(sessions, 'SIGTERM');
  if (sessions.length > 0) await hasEnded(SESSIONS_GRACE_MS, () => livingSessions(record).length > 0);
  const isGone = await hasEnded(PATIENCE_MS, () => {
    const left = livingAll(folder, record);
    signalEach(left, 'SIGKILL');
    return left.length > 0;
  });
  if (!isGone) throw new Fault('unavailable', `Processes of ${record.name} did not end after SIGKILL.`);
}

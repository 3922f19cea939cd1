import { isIP } from 'node:net';
import type { Hello } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { checkedName, tame } from '#wire/foreign-text.ts';
import type { AgentUpdateRequest } from '#wire/gen/velda/broker_pb.ts';
import type { MusterHello } from '#wire/gen/velda/muster_pb.ts';
import type { SessionRequest } from '#wire/gen/velda/session_pb.ts';

const LONGEST_NAME = 253;
const LONGEST_ID = 128;
const MOST_SLOTS = 10_000;
const MOST_LABELS = 100;
const LONGEST_LABEL = 1_024;

/** Carries the number of the attempt through a Velda agent, which sends the whole request back. */
export const ATTEMPT_TAG = 'muster-attempt';

export function attemptOf(request: SessionRequest): number | undefined {
  const attempt = Number(request.tags[ATTEMPT_TAG]);
  return Number.isSafeInteger(attempt) && attempt > 0 ? attempt : undefined;
}

function slotsOf({ slots, musterHello }: AgentUpdateRequest): number {
  if (slots > MOST_SLOTS) {
    throw new Fault('invalid', `An agent cannot have ${slots} slots.`, {
      at: 'slots',
      remedy: `Offer at most ${MOST_SLOTS}.`,
    });
  }
  if (musterHello?.draining) return 0;
  return Math.max(1, slots);
}

function labelsOf(labels: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(labels);
  if (entries.length > MOST_LABELS)
    throw new Fault('invalid', `The agent has more than ${MOST_LABELS} labels.`, { at: 'labels' });
  for (const [name, value] of entries) {
    checkedName(name, LONGEST_LABEL, 'The name of a label');
    if (value !== '') checkedName(value, LONGEST_LABEL, `The label ${name}`);
  }
  return Object.fromEntries(entries);
}

const musterExecutions = (hello: MusterHello): Hello['executions'] =>
  hello.executions.map(({ session, attempt }) => {
    if (attempt < 1) throw new Fault('invalid', 'An execution has no attempt.', { at: 'executions.attempt' });
    return { session: checkedName(session, LONGEST_ID, 'The session of an execution'), attempt };
  });

function veldaExecutions(
  message: AgentUpdateRequest,
  attemptNow: (session: string) => number | undefined,
): Hello['executions'] {
  return message.currentExecutions.flatMap(({ request }) => {
    if (!request) return [];
    const session = checkedName(request.sessionId, LONGEST_ID, 'The session of an execution');
    return [{ session, attempt: attemptOf(request) ?? attemptNow(session) ?? 1 }];
  });
}

const LONGEST_WHY = 200;

function leavingOf(muster: MusterHello | undefined): Pick<Hello, 'leaving'> {
  if (!muster?.leaving) return {};
  const endsAt = Number(muster.leaving.endsAtMs);
  if (!Number.isSafeInteger(endsAt) || endsAt < 0)
    throw new Fault('invalid', 'leaving.ends_at_ms is not a timestamp.', { at: 'muster_hello.leaving.ends_at_ms' });
  return { leaving: { why: tame(muster.leaving.why, LONGEST_WHY), endsAt } };
}

/** Muster agents of earlier versions would ignore the account of a session, and run it as root. */
export const canRunAs = ({ musterHello }: AgentUpdateRequest): boolean =>
  musterHello?.capabilities.includes('run_as') ?? true;

/** Reads an agent's identity from its first message, or throws a `Fault`. */
export function readHello(
  message: AgentUpdateRequest,
  peerAddress: string,
  attemptNow: (session: string) => number | undefined,
): Hello {
  const { agentIdentity: identity, musterHello: muster } = message;
  if (!identity) {
    throw new Fault('invalid', 'The first message has no agent_identity.', {
      at: 'agent_identity',
      remedy: 'Send identity, slots and current executions first.',
    });
  }
  return {
    name: checkedName(identity.agentId, LONGEST_NAME, 'agent_identity.agent_id'),
    pool: checkedName(identity.pool, LONGEST_NAME, 'agent_identity.pool'),
    slots: slotsOf(message),
    labels: labelsOf(muster?.labels ?? {}),
    ...(muster?.capabilities.includes('files') && { takesFiles: true }),
    ...(muster?.capabilities.includes('tunnels') && { opensTunnels: true }),
    ...(muster?.capabilities.includes('end_at') && { movesEnd: true }),
    wire: muster ? 'muster' : 'velda',
    version: tame(muster?.version ?? '', LONGEST_ID),
    hostname: tame(identity.hostname, LONGEST_NAME),
    address: isIP(identity.ipAddress) ? identity.ipAddress : peerAddress,
    ...leavingOf(muster),
    executions: muster ? musterExecutions(muster) : veldaExecutions(message, attemptNow),
  };
}

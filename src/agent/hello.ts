import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AgentUpdateRequestSchema } from '#wire/gen/velda/broker_pb.ts';
import type { Notice } from './notices.ts';
import type { VeldaTask } from './velda-peer.ts';

export interface Self {
  readonly name: string;
  readonly hostname: string;
  readonly address: string;
  readonly pool: string;
  readonly slots: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
}

export interface Doing {
  readonly executions: readonly { readonly session: string; readonly attempt: number }[];
  readonly tasks: ReadonlyMap<string, VeldaTask>;
  readonly isDraining: boolean;
  readonly notice?: Notice | undefined;
}

/** The first message: who we are and what we are doing, in a form for brokers of both kinds. */
export function helloOf(self: Self, doing: Doing): MessageInitShape<typeof AgentUpdateRequestSchema> {
  const { executions, isDraining, notice } = doing;
  return {
    agentIdentity: { agentId: self.name, hostname: self.hostname, pool: self.pool, ipAddress: self.address },
    slots: self.slots,
    currentExecutions: [...doing.tasks.values()].map(({ request, isStarted }) => {
      const { sessionId, instanceId } = request;
      return { request, ...(isStarted && { response: { sessionId, instanceId, success: true } }) };
    }),
    musterHello: {
      version: self.version,
      labels: { ...self.labels },
      capabilities: ['stdin', 'terminal', 'run_as', 'files', 'tunnels', 'end_at'],
      executions: executions.map(({ session, attempt }) => ({ session, attempt })),
      draining: isDraining,
      ...(notice && { leaving: { why: notice.why, endsAtMs: BigInt(notice.endsAt) } }),
    },
  };
}

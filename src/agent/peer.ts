import type { AgentReport } from '#core/agent-link.ts';
import type { AgentUpdateResponse } from '#wire/gen/velda/broker_pb.ts';

/** The protocol towards a broker that has admitted us. */
export interface Peer {
  report(report: AgentReport): void;
  hear(answer: AgentUpdateResponse): void;
  close(): void;
}

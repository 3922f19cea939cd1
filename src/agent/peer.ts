import type { AgentReport } from '#core/agent-link.ts';
import type { AgentUpdateResponse } from '../broker/gen/velda/broker_pb.ts';

/** How a broker that has let us in is spoken to and understood. */
export interface Peer {
  report(report: AgentReport): void;
  hear(answer: AgentUpdateResponse): void;
  close(): void;
}

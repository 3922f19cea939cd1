import type { AgentCommand } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { decodeCommand } from '#wire/commands.ts';
import { AgentUpdateRequestSchema } from '#wire/gen/velda/broker_pb.ts';
import { messageOf } from '#wire/messages.ts';
import { createOutbox } from '#wire/outbox.ts';
import { encodeReport } from '#wire/reports.ts';
import type { ClientStream } from './dial.ts';
import type { Peer } from './peer.ts';

const BATCH_BYTES = 512 * 1024;
const REPORTS = AgentUpdateRequestSchema.field.reports.number;

export interface MusterPeerOptions {
  readonly stream: Pick<ClientStream, 'write'>;
  readonly clock: Clock;
  readonly log: Log;
  obey(command: AgentCommand): void;
}

/** Protocol of a Muster broker: reports and commands in batches, output until it is acknowledged. */
export function openMusterPeer({ stream, clock, log, obey }: MusterPeerOptions): Peer {
  const outbox = createOutbox({
    soon: (run) => clock.soon(run),
    batchBytes: BATCH_BYTES,
    // Runs send only a window of unacknowledged output.
    limitBytes: Number.POSITIVE_INFINITY,
    send: (batch, sent) => stream.write(messageOf(REPORTS, batch), sent),
    overflowed: () => {},
  });
  return {
    report: (report) => outbox.push(encodeReport(report)),
    hear(answer) {
      for (const entry of answer.commands) {
        try {
          const command = decodeCommand(entry);
          if (command) obey(command);
          else log('warn', 'unknown command from server', { session: entry.session });
        } catch (thrown) {
          log('error', 'invalid command from server', { session: entry.session, error: Fault.from(thrown).message });
        }
      }
    },
    close: () => outbox.close(),
  };
}

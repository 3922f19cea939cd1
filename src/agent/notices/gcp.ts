import { Fault } from '#core/fault.ts';
import { type Notice, pollForNotice, type WatchNotices } from '../notices.ts';

// The same name on every machine of Compute Engine, and the variable by which Google's tools are sent elsewhere.
const METADATA = 'metadata.google.internal';
const METADATA_VARIABLE = 'GCE_METADATA_HOST';

const EVERY_MS = 2_000;
const ANSWER_WITHIN_MS = 2_000;
// Compute Engine, "Spot VMs": 30 seconds from the notice to the end; it does not say when the notice began.
const NOTICE_MS = 30_000;

/** Asks the metadata of a Compute Engine machine whether it is preempted: `instance/preempted` is then TRUE. */
const watchPreemption: WatchNotices = (options, heard) => {
  const { clock } = options;
  const host = options.variable(METADATA_VARIABLE) || METADATA;
  const url = `http://${host}/computeMetadata/v1/instance/preempted`;

  async function look(signal: AbortSignal): Promise<Notice | undefined> {
    const ending = new AbortController();
    const cancel = clock.alarm(ANSWER_WITHIN_MS, () => ending.abort());
    try {
      const both = AbortSignal.any([signal, ending.signal]);
      const answer = await options.fetch(url, { headers: { 'metadata-flavor': 'Google' }, signal: both });
      if (!answer.ok) throw new Fault('unavailable', `The metadata server answered ${answer.status}.`);
      if ((await answer.text()).trim() !== 'TRUE') return undefined;
      return { why: 'the cloud reclaims its machine (preemption)', endsAt: clock.now() + NOTICE_MS - EVERY_MS };
    } finally {
      cancel();
    }
  }

  return pollForNotice(options, EVERY_MS, look, heard);
};

export default watchPreemption;

import { FetchFilesRequestSchema, FilePieceSchema } from '#wire/gen/velda/muster_pb.ts';
import { decode, encode } from '#wire/messages.ts';
import type { FetchContents } from './execution/session-contents.ts';
import type { Uplink } from './uplink.ts';

const PATH = '/velda.MusterFileService/FetchFiles';

/** Fetches the files of sessions from the broker that has sent the session. */
export const fetchContents = (fetch: Uplink['fetch']): FetchContents =>
  async function* (session, attempt, numbers) {
    const request = encode(FetchFilesRequestSchema, { session, attempt, numbers: [...numbers] });
    for await (const answer of fetch(PATH, request)) {
      const { data, isLast } = decode(FilePieceSchema, answer);
      yield { data, isLast };
    }
  };

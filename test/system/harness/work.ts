// Sessions that leave a trace of each start and each end, so that none can run twice or be lost unseen.

import { until } from '#core/testing/until.ts';
import type { Session, SessionIn } from '../../../src/api/wire/session.ts';
import type { Api } from './api.ts';
import type { World } from './world.ts';

const STEPS = 5;
const LINES_A_STEP = 40;

// $1 its file, $2 its number, $3 how long a step takes, $4 the exit code.
const SCRIPT = `
echo start >>"$1"
step=0
while [ $step -lt ${STEPS} ]; do
  line=0
  while [ $line -lt ${LINES_A_STEP} ]; do echo "$2 says $step.$line"; line=$((line + 1)); done
  sleep "$3"
  step=$((step + 1))
done
echo end >>"$1"
exit "$4"
`;

export interface Piece {
  readonly key: string;
  readonly request: SessionIn;
  readonly file: string;
  readonly output: string;
  readonly exitCode: number;
}

/** One session that takes about a second and a half. */
export function pieceOfWork(world: World, pool: string, number: number): Piece {
  const file = `work/${number}`;
  const exitCode = number % 3;
  const stepSeconds = String(0.2 + (number % 4) * 0.06);
  const lines = Array.from({ length: STEPS * LINES_A_STEP }, (_, at) => {
    return `${number} says ${Math.floor(at / LINES_A_STEP)}.${at % LINES_A_STEP}\n`;
  });
  const command = ['sh', '-c', SCRIPT, 'work', world.path(file), String(number), stepSeconds, String(exitCode)];
  return { key: `key-${number}`, request: { pool, command }, file, exitCode, output: lines.join('') };
}

/** Does as `muster run` does: asks again under the same key until it is accepted, then waits for the end. */
export async function carryOut(api: Api, { key, request }: Piece): Promise<Session> {
  const { id } = await until(`${key} accepted`, () => api.submit(request, key));
  return until(`${key} ended`, async () => {
    const session = await api.get<Session>(`/sessions/${id}?wait=5s`);
    return session.end && session;
  });
}

import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import type { AwsCalls } from '../programs/aws.ts';
import { type Program, startProgram } from './program.ts';

export const REGION = 'us-west-2';

export type BenchAws = Program<AwsCalls>;

/** Runs with a simulated AWS beside this process, where the SDK finds it and has a key for it. */
export async function withAws(isLimited: boolean, run: (aws: BenchAws) => Promise<void>): Promise<void> {
  const program = startProgram<AwsCalls>('aws');
  try {
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'AKIABENCH',
      AWS_SECRET_ACCESS_KEY: 'secret-of-nobody',
      AWS_REGION: REGION,
      AWS_ENDPOINT_URL: await program.ask('open', isLimited),
    });
    await run(program);
  } finally {
    await program.end();
  }
}

/** `limitTimes`: how many times the published limits we keep to. */
export function awsContext(cluster: string, limitTimes: number): Context {
  return {
    cluster,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    fetch,
    shared: openShared(),
    dataDir: '/nonexistent',
    agentCommand: ['true'],
    rates: { aws: limitTimes },
  };
}

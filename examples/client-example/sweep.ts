// Runs one command for each of three seeds and prints what each has written. MUSTER_ADDRESS and MUSTER_TOKEN name the server.
import { createMusterClient, type Schemas } from '@muster/muster/client';

const { MUSTER_ADDRESS: address = 'http://127.0.0.1:8081', MUSTER_TOKEN: token } = process.env;
const muster = createMusterClient({ address, token });

function fail({ detail, remedy }: Schemas['Problem']): never {
  throw new Error([detail, remedy].filter(Boolean).join(' '));
}

/** The server accepts the whole list or nothing. Sent again with the same key, it starts nothing twice. */
async function submit(seeds: readonly number[], key: string): Promise<readonly Schemas['Session'][]> {
  const body = seeds.map((seed) => ({ command: ['sh', '-c', 'echo "seed $SEED"'], env: { SEED: String(seed) } }));
  const { data, error } = await muster.POST('/api/v1/sessions', {
    params: { header: { 'Idempotency-Key': key } },
    body,
  });
  if (error) fail(error);
  return 'items' in data ? data.items : [data];
}

/** Resolves when the session has ended. */
async function outputOf(session: string): Promise<string> {
  const { data, error } = await muster.GET('/api/v1/sessions/{session}/output', {
    params: { path: { session }, query: { follow: '1', raw: '1', stream: 'stdout' } },
    parseAs: 'text',
  });
  if (error) fail(error);
  return data;
}

async function exitCodeOf(session: string): Promise<number> {
  const { data, error } = await muster.GET('/api/v1/sessions/{session}', { params: { path: { session } } });
  if (error) fail(error);
  return data.end?.exit_code ?? 1;
}

for (const { id } of await submit([1, 2, 3], `sweep-${crypto.randomUUID()}`)) {
  console.log((await outputOf(id)).trimEnd());
  process.exitCode ||= await exitCodeOf(id);
}

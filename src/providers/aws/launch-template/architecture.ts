// An image boots only on machines of its own architecture.
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Ec2Calls, Service } from '../client.ts';

const KEEP_MS = 24 * HOUR_MS;

async function askFor({ ask }: Service<Ec2Calls>, type: string, signal: AbortSignal): Promise<readonly string[]> {
  const input = { InstanceTypes: [type as never] };
  const { InstanceTypes = [] } = await ask('DescribeInstanceTypes', input, { signal });
  return InstanceTypes.flatMap(({ ProcessorInfo }) => ProcessorInfo?.SupportedArchitectures ?? []);
}

/** `x86_64` or `arm64`, as images are called too; empty where EC2 does not say, and any image may fit. */
export async function architecturesOf(
  ec2: Service<Ec2Calls>,
  type: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (type === undefined) return [];
  const asked = ec2.keep(`architectures of ${type}`, KEEP_MS, () => askFor(ec2, type, signal));
  return asked.catch((thrown) => {
    const { kind } = Fault.from(thrown);
    // Roles from before have no right to ask; that there is no such type is told by the launch, with a remedy.
    if (kind === 'denied' || kind === 'missing' || kind === 'invalid') return [];
    throw thrown;
  });
}

// What the tests of the fake AWS share: the real clients of the SDK, connected to it alone.
import { EC2Client, type RunInstancesCommandInput } from '@aws-sdk/client-ec2';
import { SSMClient } from '@aws-sdk/client-ssm';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { requestHandler } from '../http.ts';
import { type FakeAws, type FakeAwsOptions, openFakeAws } from './fake-aws.ts';
import { SEED_DATA } from './seed-data.ts';

export interface Clients {
  readonly ec2: EC2Client;
  readonly ssm: SSMClient;
}

export function openClients(fake: FakeAws, region = 'us-west-2', accessKeyId = 'AKIATEST'): Clients {
  const settings = {
    region,
    credentials: { accessKeyId, secretAccessKey: 'secret-of-nobody' },
    maxAttempts: 1,
    requestHandler: requestHandler(fake.fetch),
  };
  return { ec2: new EC2Client(settings), ssm: new SSMClient(settings) };
}

export function openScene(options: Partial<FakeAwsOptions> = {}): Clients & { fake: FakeAws; clock: VirtualClock } {
  const clock = new VirtualClock();
  const fake = openFakeAws({ clock, random: seededRandom(1), ...options });
  return { clock, fake, ...openClients(fake) };
}

/** A launch that AWS takes. */
export const LAUNCH: RunInstancesCommandInput = {
  ImageId: SEED_DATA.image,
  InstanceType: 'c5.large',
  SubnetId: SEED_DATA.subnets[0],
  MinCount: 1,
  MaxCount: 1,
};

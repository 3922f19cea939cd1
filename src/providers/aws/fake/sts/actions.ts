import { Buffer } from 'node:buffer';
import { refusal } from '#fakes/refusal.ts';
import { numberAt, textAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';

const LIFE_SECONDS = 3_600;

function getCallerIdentity({ world, principal }: Ask): Readonly<Record<string, Xml>> {
  return { Arn: principal.arn, UserId: principal.id, Account: world.account };
}

function assumeRole({ params, world, nowMs }: Ask): Readonly<Record<string, Xml>> {
  const [role, session] = [textAt(params, 'RoleArn'), textAt(params, 'RoleSessionName')];
  const name = /^arn:aws:iam::\d{12}:role\/(?:.*\/)?([^/]+)$/.exec(role ?? '')?.[1];
  if (name === undefined || session === undefined) {
    throw refusal('ValidationError', `${role ?? 'The request'} is not a role and a name of a session.`);
  }
  const accessKey = `ASIA${Buffer.from(world.random.bytes(8)).toString('hex').toUpperCase()}`;
  const arn = `arn:aws:sts::${world.account}:assumed-role/${name}/${session}`;
  const secret = Buffer.from(world.random.bytes(30)).toString('base64');
  world.grant(accessKey, arn);
  world.secrets.set(accessKey, secret);
  const lifeMs = (numberAt(params, 'DurationSeconds') ?? LIFE_SECONDS) * 1_000;
  return {
    Credentials: {
      AccessKeyId: accessKey,
      SecretAccessKey: secret,
      SessionToken: Buffer.from(world.random.bytes(60)).toString('base64'),
      Expiration: new Date(nowMs + lifeMs).toISOString(),
    },
    AssumedRoleUser: { AssumedRoleId: `AROA${accessKey.slice(4)}:${session}`, Arn: arn },
  };
}

/** What the Security Token Service can be asked here. */
export const STS_ACTIONS: Readonly<Record<string, (ask: Ask) => Readonly<Record<string, Xml>>>> = {
  GetCallerIdentity: getCallerIdentity,
  AssumeRole: assumeRole,
};

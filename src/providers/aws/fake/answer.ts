import { type Refusal, refusal } from '#fakes/refusal.ts';
import { EC2_ACTIONS } from './ec2/actions.ts';
import { ECS_ACTIONS } from './ecs/actions.ts';
import { EKS_ACTIONS } from './eks/actions.ts';
import { SSM_ACTIONS } from './ssm/actions.ts';
import { STS_ACTIONS } from './sts/actions.ts';
import { jsonAnswer, jsonRefusal } from './wire/aws-json.ts';
import { ec2Answer, ec2Refusal, type Reply } from './wire/ec2-query.ts';
import type { Service } from './wire/read-call.ts';
import { restAnswer, restRefusal } from './wire/rest-json.ts';
import { stsAnswer, stsRefusal } from './wire/sts-query.ts';
import type { Ask } from './world.ts';

function pick<T>(actions: Readonly<Record<string, T>>, { action }: Reply, unknown: string): T {
  const found = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (found) return found;
  throw refusal(unknown, `The action ${action} is not valid for this web service.`);
}

/** Each service in its own protocol. */
export const SERVICES: Readonly<
  Record<Service, { answer(reply: Reply, ask: Ask): Response; refuse(reply: Reply, refused: Refusal): Response }>
> = {
  ec2: {
    answer: (reply, ask) => ec2Answer(reply, pick(EC2_ACTIONS, reply, 'InvalidAction')(ask)),
    refuse: ec2Refusal,
  },
  ssm: {
    answer: (reply, ask) => jsonAnswer(reply, pick(SSM_ACTIONS, reply, 'UnknownOperationException')(ask)),
    refuse: jsonRefusal,
  },
  ecs: {
    answer: (reply, ask) => jsonAnswer(reply, pick(ECS_ACTIONS, reply, 'UnknownOperationException')(ask)),
    refuse: jsonRefusal,
  },
  eks: {
    answer: (reply, ask) => restAnswer(reply, pick(EKS_ACTIONS, reply, 'UnknownOperationException')(ask)),
    refuse: restRefusal,
  },
  sts: {
    answer: (reply, ask) => stsAnswer(reply, pick(STS_ACTIONS, reply, 'InvalidAction')(ask)),
    refuse: stsRefusal,
  },
};

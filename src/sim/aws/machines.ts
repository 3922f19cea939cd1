// The machines of the simulated AWS, as the simulated agents know machines.
import type { Clock } from '#core/clock.ts';
import { nameAt } from '#core/id.ts';
import type { Launch, Mark } from '#core/provider.ts';
import { type Instance, stateAt } from '../../providers/aws/fake/ec2/instance.ts';
import type { FakeAws } from '../../providers/aws/fake/fake-aws.ts';
import type { SimCloud, SimMachine } from '../backend.ts';

/** The name that the machine would find out for itself, by what it was told. */
function nameOf({ tags, launchIndex }: Instance): string {
  return tags.get('muster:name') ?? nameAt(tags.get('muster:stem') ?? '', launchIndex);
}

function madeOf(instance: Instance): SimMachine {
  const { tags } = instance;
  const name = nameOf(instance);
  const mark: Mark = {
    cluster: tags.get('muster:cluster') ?? '',
    use: 'worker',
    owner: tags.get('muster:pool') ?? '',
    shape: tags.get('muster:shape') ?? '',
  };
  const id = tags.get('muster:launch') ?? '';
  const launch: Launch = { id, mark, names: [name], boot: { agentConfig: '', token: `token of ${id}` } };
  return { machine: { name, mark, createdAt: instance.createdAtMs, state: 'running' }, launch, name };
}

/** Tells when one of our instances boots and ends, as its states follow one another on the clock. */
export function awsMachines(
  fake: FakeAws,
  { clock, isOurs }: { readonly clock: Clock; isOurs(instance: Instance): boolean },
): Pick<SimCloud, 'onBoot' | 'onGone'> {
  const booted: ((made: SimMachine) => void)[] = [];
  const gone: ((made: SimMachine, how: 'deleted' | 'died') => void)[] = [];
  const running = new Set<string>();

  function look(instance: Instance): void {
    const isUp = stateAt(instance, clock.now()) === 'running';
    if (isUp === running.has(instance.id)) return;
    if (isUp) running.add(instance.id);
    else running.delete(instance.id);
    const made = madeOf(instance);
    if (isUp) for (const heard of booted) heard(made);
    else for (const heard of gone) heard(made, 'deleted');
  }

  fake.watch((instance) => {
    if (!isOurs(instance)) return;
    look(instance);
    for (const { atMs } of instance.timeline) clock.alarm(Math.max(0, atMs - clock.now()), () => look(instance));
  });
  return { onBoot: (heard) => void booted.push(heard), onGone: (heard) => void gone.push(heard) };
}

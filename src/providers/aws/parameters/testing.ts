import type { FakeAws } from '../fake/fake-aws.ts';
import type { ParameterKind } from '../fake/region.ts';
import { dropParameter as drop, setParameter } from '../fake/ssm/parameter.ts';
import { REGION } from '../testing.ts';

/** Writes a parameter as Terraform would: another version each time. */
export function putParameter(fake: FakeAws, name: string, value: string, kind: ParameterKind = 'String'): void {
  const region = fake.region(REGION);
  const before = region.parameters.get(name)?.versions ?? [];
  const version = (before.at(-1)?.version ?? 0) + 1;
  setParameter(region, {
    name,
    kind,
    tier: 'Standard',
    description: undefined,
    keyId: undefined,
    dataType: 'text',
    allowedPattern: undefined,
    versions: [...before, { value, version, atMs: fake.world.clock.now() }],
    tags: new Map(),
  });
}

export function dropParameter(fake: FakeAws, name: string): void {
  drop(fake.region(REGION), name);
}

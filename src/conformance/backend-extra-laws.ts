// The laws of what a backend may offer beside its machines: an account, exact listings, hints.
import { going } from '#core/testing/going.ts';
import { type BackendLaw, list, make } from './backend-laws.ts';
import { aLaunch, lawName, OURS, PLANTED_TOKEN } from './backend-world.ts';
import { demand } from './demand.ts';

const NAME = lawName('extra');

export const EXTRA_LAWS: readonly BackendLaw[] = [
  {
    id: 'account',
    name: 'names its cloud and its account alike at each opening, without a secret in them',
    async check(world) {
      const [one, other] = [await world.open(OURS), await world.open(OURS)];

      demand(one.cloud === other.cloud, `the cloud is ${one.cloud}, and at the next opening ${other.cloud}`);
      demand(one.account === other.account, `the account is ${one.account}, and at the next opening ${other.account}`);
      demand(!`${one.cloud} ${one.account}`.includes(PLANTED_TOKEN), 'the token stands in the name of the account');
    },
  },
  {
    id: 'exact',
    name: 'if it calls its listings exact, shows at once what it made and no longer what it deleted',
    async check(world) {
      const backend = await world.open(OURS);
      if (!backend.isExact) return;
      const [made] = await world.during(backend.create(aLaunch(OURS, [NAME]), going()));
      const name = made?.machine ?? NAME;
      const found = (await list(world, backend)).find((machine) => machine.name === name);
      demand(found, 'a listing after a create does not show the machine, though listings are said to be exact');
      if (found) await world.during(backend.delete([found], going()));
      const left = (await list(world, backend)).filter(({ state }) => state !== 'deleting');

      demand(left.length === 0, 'a listing after a delete shows the machine, though listings are said to be exact');
    },
  },
  {
    id: 'prices',
    name: 'has prices where its kind says so, and nowhere else',
    async check(world, { kind }) {
      const { pricePerHour } = await world.open(OURS);

      demand(
        (pricePerHour !== undefined) === (kind.hasPrices === true),
        `hasPrices of the kind is ${kind.hasPrices}, and the backend ${pricePerHour ? 'has' : 'lacks'} pricePerHour`,
      );
    },
  },
  {
    id: 'hints',
    name: 'if it watches, hints at every change until its signal is aborted, and never after',
    async check(world) {
      const backend = await (world.openWatching ?? world.open)(OURS);
      if (!backend.watch && !world.openWatching) return;
      demand(backend.watch, 'the kind says that it watches, and offers no way');
      const stopping = new AbortController();
      let hints = 0;
      backend.watch?.(() => {
        hints += 1;
      }, stopping.signal);
      await world.settle();
      const before = hints;
      await make(world, backend, aLaunch(OURS, [NAME]));
      demand(hints > before, 'a machine was made, and there was no hint');
      stopping.abort();
      await world.settle();
      const after = hints;
      await make(world, backend, aLaunch(OURS, [lawName('extra late')]));

      demand(hints === after, 'a hint came after the signal was aborted');
    },
  },
];

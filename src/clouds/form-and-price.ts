import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Backend } from '#core/provider.ts';
import { inSlices } from '#core/slices.ts';

export interface FormsAndPricesDeps {
  /** The open offers of a cloud with their backends. */
  backends(cloud: string): Iterable<readonly [offer: string, backend: Backend]>;
  /** Asks a backend, through the gate. */
  ask<T>(offer: string, name: string, run: (backend: Backend, signal: AbortSignal) => Promise<T>): Promise<T>;
  /** An offer's form is another than before; the first one that is heard is none. */
  changed(offer: string): void;
  /** An offer has another price than before, or its first. */
  priceChanged(offer: string): void;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the configurations of open offers resolve to: the newest image of a name, the default version of a template, a price. */
export interface FormsAndPrices {
  formOf(offer: string): string | undefined;
  /** In dollars an hour. */
  priceOf(offer: string): number | undefined;
  /** Resolves all offers of a cloud again; if the cloud does not answer, the last result stays. */
  refresh(cloud: string): void;
  /** An offer of that cloud has been opened: the next refresh asks for it. */
  opened(cloud: string): void;
  forget(offer: string): void;
}

const PRICE_HOLDS_MS = 3_600_000;

interface Answers {
  form?: string | undefined;
  price?: number | undefined;
  priceAskedMs: number;
  isAsking: boolean;
}

export function openFormsAndPrices(deps: FormsAndPricesDeps): FormsAndPrices {
  const { backends, ask, changed, priceChanged, clock, log } = deps;
  const known = new Map<string, Answers>();
  // Until when nothing is to be asked of a cloud: most are listed every minute, and prices hold for an hour.
  const nothingDueUntilMs = new Map<string, number>();

  function answersOf(offer: string): Answers {
    const answers = known.get(offer) ?? { priceAskedMs: Number.NEGATIVE_INFINITY, isAsking: false };
    known.set(offer, answers);
    return answers;
  }

  async function resolve(offer: string, { form, pricePerHour }: Backend): Promise<void> {
    const answers = answersOf(offer);
    if (answers.isAsking) return;
    answers.isAsking = true;
    try {
      if (form) takeForm(offer, answers, await ask(offer, 'form', async (it, signal) => it.form?.(signal)));
      if (pricePerHour && clock.monotonic() - answers.priceAskedMs >= PRICE_HOLDS_MS) {
        answers.priceAskedMs = clock.monotonic();
        takePrice(offer, answers, await ask(offer, 'price', async (it, signal) => it.pricePerHour?.(signal)));
      }
    } catch (thrown) {
      const { kind, message } = Fault.from(thrown);
      log('debug', 'cannot read form or price of an offer', { offer, kind, error: message });
    } finally {
      answers.isAsking = false;
    }
  }

  function takeForm(offer: string, answers: Answers, form: string | undefined): void {
    const before = answers.form;
    if (form === undefined || form === before || known.get(offer) !== answers) return;
    answers.form = form;
    if (before !== undefined) changed(offer);
  }

  function takePrice(offer: string, answers: Answers, price: number | undefined): void {
    const before = answers.price;
    answers.price = price;
    if (price !== undefined && price !== before && known.get(offer) === answers) priceChanged(offer);
  }

  function dueFrom(cloud: string, ms: number): void {
    const untilMs = nothingDueUntilMs.get(cloud);
    if (untilMs !== undefined && ms < untilMs) nothingDueUntilMs.set(cloud, ms);
  }

  return {
    formOf: (offer) => known.get(offer)?.form,
    priceOf: (offer) => known.get(offer)?.price,
    refresh(cloud) {
      const nowMs = clock.monotonic();
      if (nowMs < (nothingDueUntilMs.get(cloud) ?? nowMs)) return;
      nothingDueUntilMs.set(cloud, nowMs + PRICE_HOLDS_MS);
      void inSlices(clock, backends(cloud), ([offer, backend]) => {
        if (!backend.form && !backend.pricePerHour) return;
        const dueMs = backend.form ? nowMs : answersOf(offer).priceAskedMs + PRICE_HOLDS_MS;
        if (dueMs <= nowMs) void resolve(offer, backend);
        if (dueMs > nowMs || backend.form) dueFrom(cloud, dueMs);
      });
    },
    opened: (cloud) => void nothingDueUntilMs.delete(cloud),
    forget: (offer) => void known.delete(offer),
  };
}

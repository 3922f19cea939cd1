import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Backend } from '#core/provider.ts';

export interface FormsDeps {
  /** The open offers of a cloud with their backends. */
  backends(cloud: string): Iterable<readonly [offer: string, backend: Backend]>;
  /** An offer's form is another than before; the first one that is heard is none. */
  changed(offer: string): void;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** What the configurations of open offers come to: the newest image of a name, the default version of a template. */
export interface Forms {
  of(offer: string): string | undefined;
  /** Asks again for all offers of a cloud; what cannot be told stays as it was. */
  refresh(cloud: string): void;
  forget(offer: string): void;
}

export function openForms({ backends, changed, signal, log }: FormsDeps): Forms {
  const forms = new Map<string, string>();
  const asking = new Set<string>();

  /** A backend keeps to its cloud's limits by itself here: many offers share one image or template, which it asks for once. */
  async function ask(offer: string, backend: Backend): Promise<void> {
    asking.add(offer);
    try {
      const form = await backend.form?.(signal);
      const before = forms.get(offer);
      if (form === undefined || form === before || !asking.has(offer)) return;
      forms.set(offer, form);
      if (before !== undefined) changed(offer);
    } catch (thrown) {
      const { kind, message } = Fault.from(thrown);
      log('debug', 'form of an offer not told', { cloud: backend.cloud, offer, kind, error: message });
    } finally {
      asking.delete(offer);
    }
  }

  return {
    of: (offer) => forms.get(offer),
    refresh(cloud) {
      for (const [offer, backend] of backends(cloud)) if (backend.form && !asking.has(offer)) void ask(offer, backend);
    },
    forget(offer) {
      forms.delete(offer);
      asking.delete(offer);
    },
  };
}

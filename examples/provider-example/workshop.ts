// The workshop of the depot, in memory: what the image builder is tested against. It knows nothing of the builder.

type Labels = Readonly<Record<string, string>>;

interface Kept {
  readonly name: string;
  readonly labels: Labels;
  readonly madeAtMs: number;
}

interface Work {
  readonly name: string;
  readonly labels: Labels;
  readonly image: { readonly name: string; readonly labels: Labels };
  readonly steps: readonly string[];
  readonly beganAtMs: number;
}

/** What goes wrong there from now on. */
export interface WorkshopFailures {
  error?: string | undefined;
  /** No work gets any further. */
  stands?: boolean;
  failing?: { readonly step: number; readonly code: number; readonly lines: readonly string[] };
}

const PAGE = 3;
const STEP_MS = 1_500;

const answer = (status: number, body: unknown): Response => Response.json(body, { status });
const refuse = (status: number, error: string): Response => answer(status, { error });

export function openWorkshop(now: () => number = Date.now, stepMs = STEP_MS) {
  const images = new Map<string, Kept>();
  const works = new Map<string, Work>();
  const failures: WorkshopFailures = {};
  let begun = 0;

  const stepsIn = (ms: number): number => (stepMs === 0 ? Number.MAX_SAFE_INTEGER : Math.floor(ms / stepMs));

  /** How far it is: the step that runs or has failed, and all that it has printed. */
  function progress({ steps, beganAtMs }: Work) {
    const { failing, stands } = failures;
    const past = stands ? 0 : stepsIn(now() - beganAtMs);
    const fails = failing && past >= failing.step ? failing : undefined;
    const ended = fails ? fails.step : Math.min(past, steps.length);
    const lines = steps.slice(0, ended).map((step) => `ran ${step}`);
    if (fails) return { state: 'failed', step: ended, code: fails.code, lines: [...lines, ...fails.lines] };
    return { state: ended === steps.length ? 'done' : 'working', step: Math.min(ended + 1, steps.length), lines };
  }

  function shown(work: Work, from: number): object {
    const { name, labels, image } = work;
    const { lines, ...far } = progress(work);
    if (far.state === 'done' && !images.has(image.name)) images.set(image.name, { ...image, madeAtMs: now() });
    return { name, labels, ...far, lines: lines.slice(from) };
  }

  async function work(request: Request, name: string, from: number): Promise<Response> {
    if (request.method === 'PUT' && !works.has(name)) {
      const { labels, image, steps } = (await request.json()) as Work;
      works.set(name, { name, labels, image, steps, beganAtMs: now() });
      begun += 1;
    }
    const found = works.get(name);
    if (!found) return refuse(404, 'not_found');
    if (request.method === 'DELETE') works.delete(name);
    return answer(200, shown(found, from));
  }

  function image(request: Request, name: string): Response {
    const found = images.get(name);
    if (!found) return refuse(404, 'not_found');
    if (request.method === 'DELETE') images.delete(name);
    return answer(200, found);
  }

  function page(all: readonly object[], url: URL): Response {
    const at = Number(url.searchParams.get('page') ?? 0);
    const next = new URL(url);
    next.searchParams.set('page', String(at + 1));
    const items = all.slice(at * PAGE, (at + 1) * PAGE);
    return answer(200, { items, ...((at + 1) * PAGE < all.length && { next: next.pathname + next.search }) });
  }

  /** One request, one answer. */
  async function handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [, noun = '', name] = url.pathname.split('/').map(decodeURIComponent);
    if (failures.error) return refuse(409, failures.error);
    if (noun === 'works' && name) return work(request, name, Number(url.searchParams.get('from') ?? 0));
    if (noun === 'works')
      return page(
        [...works.values()].map((one) => shown(one, 0)),
        url,
      );
    if (name) return image(request, name);
    const recipe = url.searchParams.get('recipe');
    return page(
      [...images.values()].filter(({ labels }) => recipe === null || labels.recipe === recipe),
      url,
    );
  }

  return { images, works, failures, handle, begun: () => begun };
}

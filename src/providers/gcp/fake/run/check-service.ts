// What Cloud Run refuses before it begins to make a service.
import { refusal } from '#fakes/refusal.ts';
import { type FakeContainer, isGone, type WantedService } from './service.ts';
import type { RunState, ServicePlace } from './state.ts';

const NAME = /^[a-z]([-a-z0-9]{0,47}[a-z0-9])?$/;
const LABEL_KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const LABEL_VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;
const RESERVED = new Set(['PORT', 'K_SERVICE', 'K_REVISION', 'K_CONFIGURATION']);
const CPUS = ['1', '2', '4', '6', '8'];
/** By processors, in MiB. */
const LEAST_MEMORY: Readonly<Record<string, number>> = { 4: 2_048, 6: 4_096, 8: 4_096 };
const GEN2_MEMORY = 512;
const LONGEST_START_SECONDS = 240;
const LONGEST_VALUE = 32_768;

const bad = (message: string): Error => refusal('INVALID_ARGUMENT', message, 400);

const mebibytes = (written: string): number => {
  const [, number = '', unit] = /^(\d+)(Mi|Gi)$/.exec(written) ?? [];
  return Number(number) * (unit === 'Gi' ? 1_024 : 1);
};

function checkResources({ resources = {} }: FakeContainer): void {
  const { cpu = '1', memory = '512Mi' } = resources.limits ?? {};
  const field = 'template.containers[0].resources.limits';
  if (!CPUS.includes(cpu))
    throw bad(`${field}.cpu: Invalid value specified for cpu. Accepted values are 1, 2, 4, 6, 8.`);
  const least = Math.max(GEN2_MEMORY, LEAST_MEMORY[cpu] ?? 0);
  if (mebibytes(memory) >= least) return;
  throw bad(
    `${field}.memory: Invalid value specified for memory. For the specified value, memory must be at least ${least}Mi.`,
  );
}

function checkProbe({ startupProbe = {} }: FakeContainer): void {
  const { periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3 } = startupProbe as Record<string, number>;
  const field = 'template.containers[0].startup_probe';
  if (timeoutSeconds > periodSeconds) throw bad(`${field}.timeout_seconds: must not be greater than period_seconds.`);
  if (periodSeconds * failureThreshold > LONGEST_START_SECONDS)
    throw bad(
      `${field}: the product of period_seconds and failure_threshold must not exceed ${LONGEST_START_SECONDS}.`,
    );
}

function checkContainers(containers: readonly FakeContainer[]): void {
  const [container] = containers;
  if (!container?.image)
    throw bad(
      'Violation in CreateServiceRequest.service.template.containers[0].image: expected a container image path.',
    );
  for (const { name = '', value = '' } of container.env ?? []) {
    if (RESERVED.has(name))
      throw bad(
        `template.containers[0].env: The following reserved env names were provided: ${name}. These values are automatically set by the system.`,
      );
    if (value.length > LONGEST_VALUE) throw bad(`template.containers[0].env: The value of ${name} is too long.`);
  }
  const port = container.ports?.[0]?.containerPort ?? 8_080;
  if (!(port > 0 && port < 65_536)) throw bad('template.containers[0].ports[0].container_port: invalid port.');
  checkResources(container);
  checkProbe(container);
}

function checkLabels(labels: Readonly<Record<string, string>> = {}): void {
  for (const [key, value] of Object.entries(labels)) {
    if (LABEL_KEY.test(key) && LABEL_VALUE.test(value)) continue;
    throw bad(
      `labels: The label ${key}: ${value} is invalid. Only lowercase letters, digits, hyphens and underscores are allowed.`,
    );
  }
}

const cpusOf = ({ template }: WantedService): number =>
  Number(template?.containers?.[0]?.resources?.limits?.cpu ?? 1) * 1_000 * (template?.scaling?.maxInstanceCount ?? 100);

function checkQuota(state: RunState, { project, region }: ServicePlace, wanted: WantedService): void {
  const allowed = state.cpus.get(region);
  if (allowed === undefined) return;
  const nowMs = state.clock.now();
  const there = state.services.filter((one) => one.project === project && one.region === region);
  const used = there.filter((one) => !isGone(one, nowMs)).reduce((sum, one) => sum + cpusOf(one.wanted), 0);
  const requested = used + cpusOf(wanted);
  if (requested <= allowed) return;
  throw bad(
    `template.scaling.max_instance_count: Max instances must be set to 0 or fewer to set the requested total CPU. Consider requesting an increase in quota for this region, see https://cloud.google.com/run/quotas.\n\nQuota violated:\nCpuAllocPerProjectRegion requested: ${requested} allowed: ${allowed}`,
  );
}

/** Throws for the first flaw. */
export function checkService(state: RunState, place: ServicePlace, wanted: WantedService): void {
  const { labels, template = {} } = wanted;
  const { containers = [], scaling = {}, serviceAccount } = template;
  if (!NAME.test(place.id))
    throw bad(
      `Violation in CreateServiceRequest.service_id: must be less than 50 characters; must only contain lowercase letters, digits and hyphens; must begin with a letter and must not end with a hyphen, was '${place.id}'.`,
    );
  checkLabels(labels);
  checkContainers(containers);
  const { minInstanceCount: least = 0, maxInstanceCount: most = 100 } = scaling;
  if (least > most) throw bad('template.scaling.min_instance_count: must not be greater than max_instance_count.');
  if (serviceAccount !== undefined && !state.serviceAccounts.has(serviceAccount))
    throw refusal(
      'PERMISSION_DENIED',
      `Permission 'iam.serviceaccounts.actAs' denied on service account ${serviceAccount} (or it may not exist).`,
      403,
    );
  checkQuota(state, place, wanted);
}

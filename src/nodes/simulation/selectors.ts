// Selectors of labels, as the API server and the scheduler read them.
import { asArray, asRecord, asText } from './reading.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LabelRule {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** All rules must hold. */
export type LabelRules = readonly LabelRule[];

/** Any term suffices; in a term the rules for labels and the rules for the node's name must hold. */
export interface NodeTerm {
  readonly labels: LabelRules;
  readonly names: LabelRules;
}

const rulesOf = (written: unknown): LabelRules =>
  asArray(written).map((one) => {
    const { key, operator, values } = asRecord(one);
    return { key: asText(key), operator: asText(operator), values: asArray(values).map(asText) };
  });

/** Undefined for an absent selector, which selects nothing; an empty one selects everything. */
export function readLabelSelector(written: unknown): LabelRules | undefined {
  if (written === undefined || written === null) return undefined;
  const { matchLabels, matchExpressions } = asRecord(written);
  const equal = Object.entries(asRecord(matchLabels)).map(([key, value]) => ({
    key,
    operator: 'In',
    values: [asText(value)],
  }));
  return [...equal, ...rulesOf(matchExpressions)];
}

/** Undefined where the pod demands nothing; no term at all selects no node. */
export function readNodeTerms(written: unknown): readonly NodeTerm[] | undefined {
  if (written === undefined || written === null) return undefined;
  const terms = asArray(asRecord(written).nodeSelectorTerms).map((term) => {
    const { matchExpressions, matchFields } = asRecord(term);
    return { labels: rulesOf(matchExpressions), names: rulesOf(matchFields) };
  });
  // A term without any rule selects no node.
  return terms.filter(({ labels, names }) => labels.length + names.length > 0);
}

function isKept({ operator, values }: LabelRule, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return Number.parseInt(value ?? '', 10) > Number.parseInt(values[0] ?? '', 10);
    case 'Lt':
      return Number.parseInt(value ?? '', 10) < Number.parseInt(values[0] ?? '', 10);
    default:
      return false;
  }
}

export const selects = (rules: LabelRules | undefined, labels: Labels): boolean =>
  rules?.every((rule) => isKept(rule, labels[rule.key])) ?? false;

export const selectsNode = (terms: readonly NodeTerm[] | undefined, node: { name: string; labels: Labels }): boolean =>
  terms?.some((term) => selects(term.labels, node.labels) && term.names.every((rule) => isKept(rule, node.name))) ??
  true;

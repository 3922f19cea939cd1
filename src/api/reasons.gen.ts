// Written by "npm run gen" from src/*/reasons.ts; do not edit.
import type { SubjectReasons } from '#core/reason.ts';
import { reasons as autoscalerReasons } from '../autoscaler/reasons.ts';
import { reasons as nodesReasons } from '../nodes/reasons.ts';
import { reasons as runtimesReasons } from '../runtimes/reasons.ts';

export const REASONS: readonly SubjectReasons[] = [autoscalerReasons, nodesReasons, runtimesReasons];

import type { Ask } from '../world.ts';
import {
  addTagsToResource,
  describeParameters,
  getParameterHistory,
  listTagsForResource,
  removeTagsFromResource,
} from './describe-parameters.ts';
import { getParameter, getParameters, getParametersByPath } from './get-parameters.ts';
import type { Answer } from './parameter.ts';
import { deleteParameter, deleteParameters, putParameter } from './put-parameter.ts';

/** What Systems Manager can be asked here. */
export const SSM_ACTIONS: Readonly<Record<string, (ask: Ask) => Answer>> = {
  GetParameter: getParameter,
  GetParameters: getParameters,
  GetParametersByPath: getParametersByPath,
  GetParameterHistory: getParameterHistory,
  PutParameter: putParameter,
  DeleteParameter: deleteParameter,
  DeleteParameters: deleteParameters,
  DescribeParameters: describeParameters,
  ListTagsForResource: listTagsForResource,
  AddTagsToResource: addTagsToResource,
  RemoveTagsFromResource: removeTagsFromResource,
};

import type { DescMessage } from '@bufbuild/protobuf';
import * as pb from './gen/nebius_pb.ts';

/** One method of the API: which service answers, by which path, and its messages. */
export interface Method<Request extends DescMessage, Answer extends DescMessage> {
  /** The name before `.api.nebius.cloud`. */
  readonly service: string;
  readonly path: string;
  readonly request: Request;
  readonly answer: Answer;
}

const method = <Request extends DescMessage, Answer extends DescMessage>(
  service: string,
  path: string,
  request: Request,
  answer: Answer,
): Method<Request, Answer> => ({ service, path, request, answer });

const INSTANCES = '/nebius.compute.v1.InstanceService';
// Operations are told of by the service that began them.
const OPERATIONS = '/nebius.common.v1.OperationService';

export const METHODS = {
  createInstance: method('compute', `${INSTANCES}/Create`, pb.CreateInstanceRequestSchema, pb.OperationSchema),
  deleteInstance: method('compute', `${INSTANCES}/Delete`, pb.InstanceRequestSchema, pb.OperationSchema),
  startInstance: method('compute', `${INSTANCES}/Start`, pb.InstanceRequestSchema, pb.OperationSchema),
  stopInstance: method('compute', `${INSTANCES}/Stop`, pb.InstanceRequestSchema, pb.OperationSchema),
  getInstances: method('compute', `${INSTANCES}/BatchGet`, pb.BatchGetRequestSchema, pb.BatchGetResponseSchema),
  getByName: method('compute', `${INSTANCES}/GetByName`, pb.GetByNameRequestSchema, pb.InstanceSchema),
  listInstances: method('compute', `${INSTANCES}/List`, pb.ListInstancesRequestSchema, pb.ListInstancesResponseSchema),
  getOperation: method('compute', `${OPERATIONS}/Get`, pb.GetOperationRequestSchema, pb.OperationSchema),
  listOperations: method(
    'compute',
    `${OPERATIONS}/List`,
    pb.ListOperationsRequestSchema,
    pb.ListOperationsResponseSchema,
  ),
  listPlatforms: method(
    'compute',
    '/nebius.compute.v1.PlatformService/List',
    pb.ListPlatformsRequestSchema,
    pb.ListPlatformsResponseSchema,
  ),
  getLatestImage: method(
    'compute',
    '/nebius.compute.v1.ImageService/GetLatestByFamily',
    pb.GetLatestImageRequestSchema,
    pb.ImageSchema,
  ),
  exchangeToken: method(
    'tokens.iam',
    '/nebius.iam.v1.TokenExchangeService/Exchange',
    pb.ExchangeTokenRequestSchema,
    pb.CreateTokenResponseSchema,
  ),
  estimate: method(
    'api.calculator.billing-data-plane',
    '/nebius.billing.v1.CalculatorService/EstimateBatch',
    pb.EstimateRequestSchema,
    pb.EstimateResponseSchema,
  ),
} as const;

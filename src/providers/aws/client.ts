// The SDK's clients, imported only when a pool or a source uses them: one for each service, region and endpoint.
import type * as Ec2 from '@aws-sdk/client-ec2';
import type * as Ecs from '@aws-sdk/client-ecs';
import type * as Ssm from '@aws-sdk/client-ssm';
import { answered } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import type { Context } from '#core/provider.ts';
import { type Keep, openKept } from '#rest/kept.ts';
import { awsFault } from './faults.ts';
import { requestHandler, type WireRequest } from './http.ts';
import { openAwsRates, type Rates } from './rates.ts';
import { machineRegion } from './region.ts';

/** Where the configuration says to ask; what it leaves open is for the SDK's own chain. */
export interface Where {
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
}

interface Call<Input, Output> {
  readonly input: Input;
  readonly output: Output;
}

export interface Ec2Calls {
  readonly RunInstances: Call<Ec2.RunInstancesCommandInput, Ec2.RunInstancesCommandOutput>;
  readonly DescribeInstances: Call<Ec2.DescribeInstancesCommandInput, Ec2.DescribeInstancesCommandOutput>;
  readonly TerminateInstances: Call<Ec2.TerminateInstancesCommandInput, Ec2.TerminateInstancesCommandOutput>;
  readonly StopInstances: Call<Ec2.StopInstancesCommandInput, Ec2.StopInstancesCommandOutput>;
  readonly StartInstances: Call<Ec2.StartInstancesCommandInput, Ec2.StartInstancesCommandOutput>;
  readonly DescribeNetworkInterfaces: Call<
    Ec2.DescribeNetworkInterfacesCommandInput,
    Ec2.DescribeNetworkInterfacesCommandOutput
  >;
  readonly DescribeImages: Call<Ec2.DescribeImagesCommandInput, Ec2.DescribeImagesCommandOutput>;
  readonly DeregisterImage: Call<Ec2.DeregisterImageCommandInput, Ec2.DeregisterImageCommandOutput>;
  readonly DescribeKeyPairs: Call<Ec2.DescribeKeyPairsCommandInput, Ec2.DescribeKeyPairsCommandOutput>;
  readonly DeleteKeyPair: Call<Ec2.DeleteKeyPairCommandInput, Ec2.DeleteKeyPairCommandOutput>;
  readonly DescribeSubnets: Call<Ec2.DescribeSubnetsCommandInput, Ec2.DescribeSubnetsCommandOutput>;
  readonly DescribeSecurityGroups: Call<
    Ec2.DescribeSecurityGroupsCommandInput,
    Ec2.DescribeSecurityGroupsCommandOutput
  >;
  readonly CreateSecurityGroup: Call<Ec2.CreateSecurityGroupCommandInput, Ec2.CreateSecurityGroupCommandOutput>;
  readonly AuthorizeSecurityGroupIngress: Call<
    Ec2.AuthorizeSecurityGroupIngressCommandInput,
    Ec2.AuthorizeSecurityGroupIngressCommandOutput
  >;
  readonly DeleteSecurityGroup: Call<Ec2.DeleteSecurityGroupCommandInput, Ec2.DeleteSecurityGroupCommandOutput>;
  readonly DescribeLaunchTemplateVersions: Call<
    Ec2.DescribeLaunchTemplateVersionsCommandInput,
    Ec2.DescribeLaunchTemplateVersionsCommandOutput
  >;
  readonly DescribeInstanceTypes: Call<Ec2.DescribeInstanceTypesCommandInput, Ec2.DescribeInstanceTypesCommandOutput>;
  readonly DescribeInstanceTypeOfferings: Call<
    Ec2.DescribeInstanceTypeOfferingsCommandInput,
    Ec2.DescribeInstanceTypeOfferingsCommandOutput
  >;
}

export interface EcsCalls {
  readonly RegisterTaskDefinition: Call<
    Ecs.RegisterTaskDefinitionCommandInput,
    Ecs.RegisterTaskDefinitionCommandOutput
  >;
  readonly DeregisterTaskDefinition: Call<
    Ecs.DeregisterTaskDefinitionCommandInput,
    Ecs.DeregisterTaskDefinitionCommandOutput
  >;
  readonly DeleteTaskDefinitions: Call<Ecs.DeleteTaskDefinitionsCommandInput, Ecs.DeleteTaskDefinitionsCommandOutput>;
  readonly ListTaskDefinitions: Call<Ecs.ListTaskDefinitionsCommandInput, Ecs.ListTaskDefinitionsCommandOutput>;
  readonly ListTaskDefinitionFamilies: Call<
    Ecs.ListTaskDefinitionFamiliesCommandInput,
    Ecs.ListTaskDefinitionFamiliesCommandOutput
  >;
  readonly RunTask: Call<Ecs.RunTaskCommandInput, Ecs.RunTaskCommandOutput>;
  readonly ListTasks: Call<Ecs.ListTasksCommandInput, Ecs.ListTasksCommandOutput>;
  readonly DescribeTasks: Call<Ecs.DescribeTasksCommandInput, Ecs.DescribeTasksCommandOutput>;
  readonly StopTask: Call<Ecs.StopTaskCommandInput, Ecs.StopTaskCommandOutput>;
}

export interface SsmCalls {
  readonly GetParametersByPath: Call<Ssm.GetParametersByPathCommandInput, Ssm.GetParametersByPathCommandOutput>;
  readonly GetParameter: Call<Ssm.GetParameterCommandInput, Ssm.GetParameterCommandOutput>;
}

export interface Asking {
  readonly signal: AbortSignal;
  /** How many machines the call is about, where that counts. */
  readonly machines?: number;
}

/** One service of one region, asked within its limits; every failure comes out as a fault. */
export interface Service<Calls> {
  readonly region: string;
  /** `host:port` where it is not AWS's own. */
  readonly elsewhere: string | undefined;
  readonly rates: Rates;
  readonly clock: Clock;
  readonly keep: Keep;
  /** Throws where the chain finds no credentials. A backend opens by it: from one that is open, a creation may have been sent. */
  mustHaveCredentials(): Promise<void>;
  ask<Name extends keyof Calls & string>(
    name: Name,
    input: Calls[Name] extends Call<infer Input, unknown> ? Input : never,
    asking: Asking,
  ): Promise<Calls[Name] extends Call<unknown, infer Output> ? Output : never>;
}

type Provided<T> = () => Promise<T>;

interface SigningOptions {
  readonly signingDate: Date;
  /** Where it is not that of the client. */
  readonly signingService?: string;
}

export interface Signer {
  sign(request: WireRequest, options: SigningOptions): Promise<WireRequest>;
  /** Signs it as an address that is good for that many seconds. */
  presign(request: WireRequest, options: SigningOptions & { readonly expiresIn: number }): Promise<WireRequest>;
}

/** The members of an SDK client that are used here. */
export interface Client {
  readonly config: {
    readonly region: Provided<string>;
    credentials(options?: { readonly forceRefresh?: boolean }): Promise<unknown>;
    readonly useFipsEndpoint: Provided<unknown>;
    readonly useDualstackEndpoint: Provided<unknown>;
    readonly serviceConfiguredEndpoint?: Provided<string | undefined>;
    readonly systemClockOffset?: number;
    readonly requestHandler: {
      handle(
        request: WireRequest,
        options: { readonly abortSignal: AbortSignal },
      ): Promise<{
        readonly response: {
          readonly statusCode: number;
          readonly headers: Readonly<Record<string, string>>;
          readonly body: unknown;
        };
      }>;
    };
    endpointProvider(parameters: object): { readonly url: URL };
    signer(scheme: object): Promise<Signer>;
    streamCollector(body: unknown): Promise<Uint8Array>;
  };
  send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<unknown>;
}

interface Sdk {
  client(settings: object): Client;
  command(action: string, input: unknown): object;
}

type Constructors = Readonly<Record<string, new (input: unknown) => object>>;

function sdkOf(client: string, loaded: object): Sdk {
  const make = (name: string, input: unknown): object =>
    new ((loaded as Constructors)[name] as Constructors[string])(input);
  return {
    client: (settings) => make(client, settings) as Client,
    command: (action, input) => make(`${action}Command`, input),
  };
}

const SDKS = {
  ec2: async () => sdkOf('EC2Client', await import('@aws-sdk/client-ec2')),
  ecs: async () => sdkOf('ECSClient', await import('@aws-sdk/client-ecs')),
  ssm: async () => sdkOf('SSMClient', await import('@aws-sdk/client-ssm')),
};

const REQUEST_TIMEOUT_MS = 30_000;

// As many as the limits of requests allow: waiting for a socket as well would only add a second queue.
const CONNECTIONS = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };

/** The SDK's own connections, which cost half as much as `fetch`, where nothing stands between. */
function handlerFor(context: Context): object {
  if (!context.isDirect) return requestHandler(context.fetch);
  return { httpAgent: CONNECTIONS, httpsAgent: CONNECTIONS };
}

interface Opening {
  readonly sdk: Sdk;
  readonly where: Where;
}

/** A client of the SDK, with the region and endpoint that its chain came to. */
export interface OpenedClient {
  readonly client: Client;
  readonly region: string;
  /** Where it is not AWS's own. */
  readonly endpoint: string | undefined;
}

async function openClient(context: Context, { sdk, where }: Opening, more = {}): Promise<OpenedClient> {
  const settings = {
    ...more,
    // Repeating belongs to those who know whether it is wanted.
    maxAttempts: 1,
    retryMode: 'standard',
    requestHandler: handlerFor(context),
    userAgentAppId: 'muster',
    ...(context.userAgent && { customUserAgent: [context.userAgent.split('/')] }),
    ...(where.endpoint === undefined ? {} : { endpoint: where.endpoint }),
  };
  const asked = sdk.client(where.region === undefined ? settings : { ...settings, region: where.region });
  const region = await asked.config.region().catch(() => machineRegion(context));
  const client = sdk.client({ ...settings, region });
  return { client, region, endpoint: where.endpoint ?? (await client.config.serviceConfiguredEndpoint?.()) };
}

/** A client that signs for services whose own SDK is not worth loading; by credentials of its own, or by the chain's. */
export async function signingClient(
  context: Context,
  where: Where,
  credentials?: () => Promise<unknown>,
): Promise<OpenedClient> {
  return openClient(context, { sdk: await SDKS.ssm(), where }, credentials && { credentials });
}

async function openService(name: keyof typeof SDKS, context: Context, where: Where): Promise<Service<unknown>> {
  const { clock } = context;
  const sdk = await SDKS[name]();
  const { client, region, endpoint: configured } = await openClient(context, { sdk, where });
  // The SDK reads files and asks for credentials now, not within the deadline of the first call, which tells what is missing.
  const { credentials, useFipsEndpoint, useDualstackEndpoint } = client.config;
  await Promise.allSettled([credentials(), useFipsEndpoint(), useDualstackEndpoint()]);
  const rates = openAwsRates(clock, context.rates?.aws);

  async function ask(action: string, input: object, { signal, machines = 0 }: Asking): Promise<unknown> {
    const patience = { clock, what: `${action} in ${region}`, withinMs: REQUEST_TIMEOUT_MS };
    await rates.take(action, machines, signal);
    try {
      const output = await answered(patience, signal, (abortSignal) =>
        client.send(sdk.command(action, input), { abortSignal }),
      );
      rates.granted(action);
      return output;
    } catch (thrown) {
      const fault = awsFault(thrown, { action: `${name}:${action}`, region });
      if (fault.kind === 'throttled') rates.refused(action, machines);
      throw fault;
    }
  }

  async function mustHaveCredentials(): Promise<void> {
    try {
      await credentials();
    } catch (thrown) {
      throw awsFault(thrown, { action: `opening ${name}`, region });
    }
  }

  const elsewhere = configured === undefined ? undefined : new URL(configured).host;
  const asking = { ask: ask as unknown as Service<unknown>['ask'], mustHaveCredentials };
  return { region, elsewhere, rates, clock, keep: openKept(clock), ...asking };
}

/** The service there, the same for all who ask under one context. */
async function serviceAt(name: keyof typeof SDKS, context: Context, where: Where): Promise<Service<unknown>> {
  const keyOf = ({ region = '', endpoint = '' }: Where): string => `${name} ${region} ${endpoint}`;
  return context.shared(keyOf(where), async () => {
    const service = await openService(name, context, where);
    if (where.region !== undefined) return service;
    return context.shared(keyOf({ ...where, region: service.region }), async () => service);
  });
}

export function ec2At(context: Context, where: Where): Promise<Service<Ec2Calls>> {
  return serviceAt('ec2', context, where) as Promise<Service<Ec2Calls>>;
}

export function ecsAt(context: Context, where: Where): Promise<Service<EcsCalls>> {
  return serviceAt('ecs', context, where) as Promise<Service<EcsCalls>>;
}

export function ssmAt(context: Context, where: Where): Promise<Service<SsmCalls>> {
  return serviceAt('ssm', context, where) as Promise<Service<SsmCalls>>;
}

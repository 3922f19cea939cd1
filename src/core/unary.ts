/** One gRPC call that sends one message and gets one. */
export interface UnaryCall {
  /** `https://compute.api.nebius.cloud:443`, or `http:` without TLS. */
  readonly address: string;
  /** `/package.Service/Method` */
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly message: Uint8Array;
}

/** What became of it; without an answer the code is that of gRPC for it (`UNAVAILABLE`), and the text says what broke. */
export interface UnaryAnswer {
  /** The number of the gRPC status; 0: success. */
  readonly code: number;
  readonly text: string;
  /** `google.rpc.Status` with the details of a refusal, where the other side sends them. */
  readonly details?: Uint8Array | undefined;
  /** Empty but on success. */
  readonly message: Uint8Array;
}

/** Never rejects: a call that was aborted ends with the code `CANCELLED`. */
export type Unary = (call: UnaryCall, signal: AbortSignal) => Promise<UnaryAnswer>;

/** Numbers of gRPC statuses. */
export const GRPC = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type GrpcStatus = keyof typeof GRPC;

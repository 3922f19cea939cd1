// What the HTTP API answers and takes, as types, for its clients.
export type { Alternative, Decision, DecisionList, Reason } from './wire/decision.ts';
export type { Change, Event, EventList } from './wire/event.ts';
export type { PlanIn, PlannedChanges, PlannedPool, PoolDocument, PoolDocumentList } from './wire/plan.ts';
export type { Freeze, Plan, Pool, PoolList, Why } from './wire/pool.ts';
export type { HttpProblem } from './wire/problem.ts';
export type { Backup, Health, ServerStatus } from './wire/server.ts';
export type { AttachIn, AttachOut, OutputLine, Session, SessionIn, SessionList } from './wire/session.ts';
export type { Source, SourceDocument, SourceDocumentList, SourceList, SourceSync } from './wire/source.ts';
export type { AgentCertificate, LoginLink, Me, NewToken, Token, TokenIn, TokenList } from './wire/token.ts';
export type { Worker, WorkerList } from './wire/worker.ts';

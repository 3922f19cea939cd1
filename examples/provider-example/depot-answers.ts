/** What the depot answers, and how it refuses. */
export const answer = (status: number, body: unknown): Response => Response.json(body, { status });
export const refuse = (status: number, error: string): Response => answer(status, { error });
